"use strict";
// What is played in equilibria that a reader chooses, and in published sets at any parameters.
{
const DIFFERENT = 5e-4;
const UNREACHED = 1e-6;
const HOLDS = 1e-7; // by how much a constraint may be missed
const STEP = 1e-6; // of difference quotients
const ROUNDS = 200;

// -- formulas ------------------------------------------------------------------------------------

const OPERATIONS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (b === 0 ? NaN : a / b),
  "^": (a, b) => a ** b,
  neg: (a) => -a,
  sqrt: Math.sqrt,
};

// An expression as a function of names; it is data, and never read as a program.
function compiled(expression) {
  if (typeof expression === "number") return () => expression;
  if (typeof expression === "string") return (names) => names.get(expression);
  const [operation, [first, second]] = [OPERATIONS[expression[0]], expression.slice(1).map(compiled)];
  return second ? (names) => operation(first(names), second(names)) : (names) => operation(first(names));
}

for (const card of Object.values(DATA.played))
  for (const known of card.published) {
    known.values = known.values.map(([name, expression]) => [name, compiled(expression)]);
    for (const part of ["violations", "payoffs"]) known[part] = known[part].map(compiled);
  }

// All names of a member of a published set: constants, parameters, frequencies.
function namesOf(known, parameters) {
  const names = new Map([...Object.entries(known.constants), ...Object.entries(parameters)]);
  for (const [name, value] of known.values) names.set(name, value(names));
  return names;
}

// Whether all constraints hold, of which each is the function by how much it is violated.
function isMember(known, parameters) {
  const names = namesOf(known, parameters);
  return known.violations.every((violation) => violation(names) <= HOLDS);
}

// A member with this value of a parameter, the others moved until all constraints hold; or null.
function moved(known, from, name, value) {
  const point = { ...from, [name]: value };
  const others = known.parameters.map((each) => each.name).filter((other) => other !== name);
  for (let round = 0; round < ROUNDS; round++) {
    if (isMember(known, point)) return point;
    for (const side of known.violations) {
      const at = (change) => side(namesOf(known, { ...point, ...change }));
      const violation = at({});
      if (!(violation > 0)) continue;
      const slopes = others.map(
        (other) => (at({ [other]: point[other] + STEP }) - violation) / STEP,
      );
      const square = slopes.reduce((sum, slope) => sum + slope ** 2, 0);
      if (!(square > STEP)) continue;
      others.forEach((other, j) => {
        const next = point[other] - (violation * slopes[j]) / square;
        point[other] = Math.min(Math.max(next, 0), 1);
      });
    }
  }
  return null;
}

// The member nearest to a value that a reader slides to, from one where the parameter is elsewhere.
function slid(known, from, name, value) {
  let [near, far] = [0, 1];
  let found = moved(known, from, name, value);
  if (found) return found;
  for (let k = 0; k < 12; k++) {
    const middle = (near + far) / 2;
    const next = moved(known, from, name, from[name] + middle * (value - from[name]));
    if (next) [near, found] = [middle, next];
    else far = middle;
  }
  return found ?? from;
}

// -- profiles ------------------------------------------------------------------------------------

// The frequencies and payoffs of a member of a published set; where play does not get is pale.
function member(card, known, parameters) {
  const names = namesOf(known, parameters);
  const values = Array(card.start.at(-1)).fill(0);
  for (const action of known.rest) values[action] = 1;
  for (const [name, action, rest] of known.places) {
    values[action] = names.get(name);
    if (rest >= 0) values[rest] -= names.get(name);
  }
  const shares = values.map((value) => Math.min(Math.max(value, 0), 1));
  const payoffs = known.payoffs.map((payoff) => payoff(names));
  return { values: shares, payoffs, off: unreached(card, shares) };
}

function unreached({ tree, labels }, values) {
  const reach = [];
  const sums = Array(labels.length).fill(0);
  tree.parent.forEach((parent, node) => {
    const move = tree.action[node] >= 0 ? values[tree.action[node]] : tree.chance[node];
    reach[node] = parent < 0 ? 1 : reach[parent] * move;
    if (tree.set[node] >= 0) sums[tree.set[node]] += reach[node];
  });
  return sums.flatMap((sum, set) => (sum < UNREACHED ? [set] : []));
}

function share(value) {
  if (Math.min(value, 1 - value) < 1e-6) return String(Math.round(value));
  const text = value.toFixed(3).replace(/0+$/, "");
  return { "0.": "<.001", "1.": ">.999" }[text] ?? text;
}

// -- drawing -------------------------------------------------------------------------------------

const shade = (k, n) => `color-mix(in srgb, var(--own) ${n < 2 ? 100 : 16 + (84 * k) / (n - 1)}%, transparent)`;

function styled(part, properties) {
  for (const [name, value] of Object.entries(properties)) part.style.setProperty(name, value);
  return part;
}

function isDifferent(card, set, own, other) {
  for (let action = card.start[set]; action < card.start[set + 1]; action++)
    if (Math.abs(own.values[action] - other.values[action]) > DIFFERENT) return true;
  return false;
}

// Kind of hands of two cards in a grid of 13 x 13: pairs on the diagonal, suited above it.
function kindOf(block, row, column) {
  const [high, low] = [Math.min(row, column), Math.max(row, column)].map((k) => block.columns[k]);
  return high + low + (row === column ? "" : row < column ? "s" : "o");
}

function cellOf(card, block, where, actions, set, own, other, kind) {
  if (set < 0) return make("td", { class: "absent" }, kind ?? "–");
  const values = own.values.slice(card.start[set], card.start[set + 1]);
  const named = actions.map((action, k) => [action, share(values[k])]).filter(([, text]) => text !== "0");
  const words = named.map(([action, text]) => (text === "1" ? action : `${action} ${text}`)).join(", ");
  const texts = values.map(share);
  const numbers = kind || (texts.length === 2 ? texts[1] : texts.join(" "));
  const bar = values.map((value, k) =>
    styled(make("i"), { width: `${100 * value}%`, "--shade": shade(k, values.length) }),
  );
  const [player, label] = own.incredible ?? [];
  const isIncredible = label === card.labels[set] && player === card.players[block.player];
  const looks = {
    pale: own.off.includes(set),
    different: other && isDifferent(card, set, own, other),
    incredible: isIncredible,
  };
  const classes = ["set", ...Object.keys(looks).filter((name) => looks[name])].join(" ");
  const note = isIncredible ? "; no belief supports this: it is not credible" : "";
  const title = `${card.players[block.player]} ${where}: ${words}${note}`;
  const text = make("span", {}, block.columns.length > 1 ? numbers : words);
  return make("td", {}, make("div", { class: classes, title }, make("div", {}, ...bar), text));
}

const keyOf = (actions) =>
  actions.flatMap((action, k) => [
    styled(make("span", { class: "key" }), { "--shade": shade(k, actions.length) }),
    make("span", {}, action),
  ]);

const ofHands = (card) => card.blocks.some(({ title }) => title);

// What is played with each kind of hands of two cards in one situation.
function gridOf(card, block, own, other) {
  const rows = block.rows.map(([, actions, sets], row) => {
    const cells = sets.map((set, column) => {
      const kind = kindOf(block, row, column);
      return cellOf(card, block, `with ${kind} ${block.title}`, actions, set, own, other, kind);
    });
    return make("tr", {}, ...cells);
  });
  const player = make("b", {}, card.players[block.player]);
  const caption = make("caption", {}, player, ` ${block.title} `, make("small", {}, ...keyOf(block.rows[0][1])));
  const table = make("table", { class: "hands" }, caption, make("tbody", {}, ...rows));
  return styled(table, { "--own": `var(--p${block.player % 6})` });
}

function tableOf(card, block, own, other) {
  if (block.title) return gridOf(card, block, own, other);
  const heads = block.columns.map((column) => make("th", { scope: "col" }, column));
  const player = make("th", { scope: "col" }, card.players[block.player]);
  const rows = block.rows.map(([words, actions, sets]) => {
    const isPair = actions.length === 2; // its cells have the frequency of the last
    const isGrid = block.columns.length > 1;
    const more = isGrid && !isPair ? [make("small", {}, ...keyOf(actions))] : [];
    const head = make("th", { scope: "row" }, isGrid && isPair ? `${words}: ${actions[1]}` : words, ...more);
    return make("tr", {}, head, ...sets.map((set, k) => {
      const where = `${block.columns[k] && `with ${block.columns[k]} `}${words}`;
      return cellOf(card, block, where, actions, set, own, other);
    }));
  });
  const table = make(
    "table",
    { class: block.columns.length > 1 ? "" : "wide" },
    make("thead", {}, make("tr", {}, player, ...heads)),
    make("tbody", {}, ...rows),
  );
  return styled(table, { "--own": `var(--p${block.player % 6})` });
}

// -- one card ------------------------------------------------------------------------------------

// Choices are profiles by their number, and published sets by their number after those.
function optionsOf(card) {
  const groups = new Map();
  const add = (name, option) => groups.set(name, [...(groups.get(name) ?? []), option]);
  card.profiles.forEach(({ name, title, solver, seed, where }, place) => {
    const isOnly = card.profiles.filter((own) => own.solver === solver).length < 2;
    const trial = isOnly || seed === null ? "" : `, seed ${seed}`;
    const text = `${solver}${trial}${where && `, ${where}`}`;
    add(title && name ? `${title} (${name})` : title || name, make("option", { value: place }, text));
  });
  card.published.forEach(({ name, title }, k) => {
    const value = card.profiles.length + k;
    add("Published sets, all members", make("option", { value }, title ? `${title} (${name})` : name));
  });
  return [...groups].map(([label, options]) => make("optgroup", { label }, ...options));
}

function startPlayed(figure) {
  const card = DATA.played[figure.id];
  const members = [0, 1].map(() =>
    card.published.map(({ parameters }) =>
      Object.fromEntries(parameters.map(({ name, start }) => [name, start])),
    ),
  );
  const first = card.profiles.findIndex(({ name }) => name !== card.profiles[0].name);
  const chosen = [0, first < 0 ? null : first];
  const isTwo = card.profiles.length + card.published.length > 1;
  const selects = [0, 1].slice(0, isTwo ? 2 : 1).map((side) => {
    const none = side ? [make("option", { value: "" }, "nothing else")] : [];
    const oninput = ({ target }) => {
      chosen[side] = target.value === "" ? null : Number(target.value);
      show();
    };
    const label = side ? "the equilibrium next to it" : "equilibrium";
    const select = make("select", { "aria-label": label, oninput }, ...none, ...optionsOf(card));
    select.value = chosen[side] ?? "";
    return select;
  });
  figure.querySelector(".filters").append(...selects);

  const sliders = new Map(); // by side: what a slider changes of it, without the slider itself
  const knownAt = (side) => card.published[chosen[side] - card.profiles.length];
  function profileAt(side) {
    if (chosen[side] === null) return null;
    const known = knownAt(side);
    if (!known) return card.profiles[chosen[side]];
    return member(card, known, members[side][card.published.indexOf(known)]);
  }

  function show() {
    const places = [0, 1].filter((side) => chosen[side] !== null);
    const sides = places.map((side) => {
      const part = make("div", { class: "side" }, ...headOf(side), make("p", { class: "payoffs" }));
      part.append(make("div", { class: "plays" }));
      sliders.set(side, part);
      return part;
    });
    figure.querySelector(".sides").replaceChildren(...sides);
    places.forEach((side) => draw(side));
    caption(places);
  }

  function draw(side) {
    const part = sliders.get(side);
    const [own, other] = [profileAt(side), profileAt(1 - side)];
    const paid = own.payoffs.map((payoff, k) => `${card.players[k]} ${number(payoff, 4)}`);
    part.querySelector(".payoffs").replaceChildren("payoffs: ", make("b", {}, paid.join(", ")));
    const tables = card.blocks.map((block) => tableOf(card, block, own, other));
    part.querySelector(".plays").replaceChildren(...tables);
    const differing = card.labels.filter((_, set) => other && isDifferent(card, set, own, other));
    const marks = {
      different: `framed: played differently, at ${differing.length} of ${card.labels.length} ${card.averaged ? "kinds of hands" : "information sets"}`,
      pale: "pale: where play never gets",
      incredible: "×: no belief supports it",
    };
    const shown = Object.keys(marks).filter((name) => figure.querySelector(`.set.${name}`));
    const key = shown.map((name) => marks[name]);
    if (other && !differing.length) key.unshift("they play alike");
    figure.querySelector("output.differ").textContent = key.join("; ");
  }

  function headOf(side) {
    const known = knownAt(side);
    if (known) return [headline(known), make("p", { class: "more" }, known.sentence), ...slidersOf(side, known)];
    const own = card.profiles[chosen[side]];
    const facts = [`found by ${own.solver}`, own.where, `max regret ${regret(own.max_regret)}`];
    if (own.credible) facts.push(`credible at ${own.credible.join(" of ")} information sets`);
    const line = facts.filter(Boolean).join(", ");
    return [headline(own), make("p", { class: "more" }, line, fileLink(own, own.path, "profile"))];
  }

  const headline = ({ name, title }) =>
    make("p", {}, make("b", {}, title || name), title && name ? ` (${name})` : "");

  function slidersOf(side, known) {
    const own = card.published.indexOf(known);
    const parts = known.parameters.map(({ name, symbol: sign, meaning, low, high, idle }) => {
      const output = make("output", {}, "");
      const symbol = { alpha: "α", beta: "β" }[sign] ?? sign;
      const step = (high - low) / 200 || 1;
      const range = { type: "range", min: low, max: high, step, "data-parameter": name };
      const oninput = ({ target }) => {
        members[side][own] = slid(known, members[side][own], name, Number(target.value));
        for (const place of [0, 1]) if (chosen[place] !== null) draw(place);
        settle(sliders.get(side));
      };
      const input = make("input", { ...range, "aria-label": `${symbol}: ${meaning}`, oninput });
      const note = `${symbol === meaning ? "" : `: ${meaning}`}${idle ? " (no payoff depends on it)" : ""}`;
      const label = make("label", {}, make("b", {}, symbol), note);
      return make("div", { class: "slide" }, label, input, output);
    });
    const settle = (part) => {
      for (const line of part.querySelectorAll(".slide")) {
        const input = line.querySelector("input");
        const value = members[side][own][input.dataset.parameter];
        if (document.activeElement !== input) input.value = value;
        line.querySelector("output").textContent = number(value, 4);
      }
    };
    const main = make("div", {}, ...parts.slice(0, 1));
    const rest = parts.slice(1);
    const others = make("details", {}, make("summary", {}, `${rest.length} more parameters`), ...rest);
    const all = [main, ...(rest.length ? [others] : [])];
    all.forEach(settle);
    return all;
  }

  function caption(places) {
    const isCut = card.more ? `${card.more} situations that are reached less are left out.` : "";
    const reading = [
      ...(ofHands(card)
        ? [
            "A cell is a kind of hands: pairs on the diagonal, suited above, offsuit below. Its bar is divided",
            "among the actions of the situation, the last in the full color, each hand counted as often as it",
            "gets there. Pale: reached with a probability below 1e-6; a name alone: no such hand.",
          ]
        : [
            "A bar is divided among the actions of its row, the last in the full color; of two actions",
            "the number is how often the last is taken, which the row names. Pale: reached with a probability below 1e-6.",
            card.averaged ? "A column of several hands averages them, each counted as often as it gets there." : "",
          ]),
      places.length > 1 ? "Framed: played differently, by more than 0.0005." : "",
      "A cross stands where no belief supports what is played, where that costs most.",
      "Sliders show members of published sets, by the formulas as published;",
      "other parameters move along where a constraint of the set makes them.",
    ];
    const how = make("details", { class: "reading" }, make("summary", {}, "how to read"));
    how.append(reading.filter(Boolean).join(" "));
    const cap = [card.key, isCut].filter(Boolean).join(" ");
    const links = card.files.map((file) => fileLink(file, file.path, `${file.solver} (${file.name})`));
    const left = card.others
      ? [make("div", {}, `${card.others} more profiles are not on this page: `, ...links.filter(Boolean),
          make("code", {}, "eqbench show RUN CELL:K --figure FILE"))]
      : [];
    figure.querySelector("figcaption").replaceChildren(cap, how, ...left);
  }

  show();
}

for (const figure of document.querySelectorAll("[data-played]")) startPlayed(figure);
}
