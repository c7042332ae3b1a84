"use strict";
// -- data --------------------------------------------------------------------------------------

const DATA = JSON.parse(document.getElementById("data").textContent);
const SPECS = DATA.charts;
// datasets come as columns with rows of values, which is half the size
const DATASETS = Object.fromEntries(
  Object.entries(DATA.datasets).map(([name, { columns, rows }]) => [
    name,
    rows.map((row) => Object.fromEntries(columns.map((column, k) => [column, row[k]]))),
  ]),
);
const SOLVERS = DATA.solvers ?? [];
const GAMES = DATA.games ?? [];
const CELLS = new Map((DATASETS.cells ?? []).map((cell) => [cell.cell, cell]));

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  made.append(...children.filter((child) => (child ?? null) !== null));
  return made;
}

// -- state, which the address keeps ------------------------------------------------------------

const state = {
  game: GAMES[0]?.name ?? "",
  focus: "", // the solver that is singled out
  over: "", // the solver that is pointed at
  cell: -1,
  hidden: new Set(),
  switches: {}, // by name of a parameter of charts, for all charts alike
  linear: new Set(), // axes as chart.x
  sorts: {}, // by table: column and direction
  finds: {}, // by table, or as table.column: text
  without: new Set(), // hidden columns as table.column
  open: new Set(), // cells whose row is open
  tabs: new Set(), // charts in front that are not the first of their tabs
};

for (const head of document.querySelectorAll("th[data-folded]"))
  state.without.add(`${head.closest(".card").id}.${head.cellIndex}`);
const FOLDED = [...state.without].join();
const LISTS = { hide: "hidden", linear: "linear", open: "open", tab: "tabs" };
const MAPS = { sort: "sorts", find: "finds", show: "switches" };

function writeAddress() {
  const query = new URLSearchParams();
  if (GAMES.length > 1 && state.game !== GAMES[0].name) query.set("game", state.game);
  if (state.focus) query.set("only", state.focus);
  for (const [key, name] of Object.entries(LISTS))
    for (const value of state[name]) query.append(key, value);
  if ([...state.without].join() !== FOLDED) query.set("without", [...state.without].join());
  for (const [key, name] of Object.entries(MAPS))
    for (const [part, value] of Object.entries(state[name]))
      if (value !== "") query.append(key, `${part}:${value}`);
  const text = query.toString();
  if (text || location.hash.includes("=")) history.replaceState(null, "", `#${text}`);
}

function readAddress() {
  if (!location.hash.includes("=")) return;
  const query = new URLSearchParams(location.hash.slice(1));
  const game = query.get("game");
  if (GAMES.some((known) => known.name === game)) state.game = game;
  if (SOLVERS.some((known) => known.name === query.get("only"))) state.focus = query.get("only");
  for (const [key, name] of Object.entries(LISTS)) state[name] = new Set(query.getAll(key));
  if (query.has("without")) state.without = new Set(query.get("without").split(","));
  for (const [key, name] of Object.entries(MAPS))
    for (const text of query.getAll(key)) {
      const at = text.indexOf(":");
      state[name][text.slice(0, at)] = text.slice(at + 1);
    }
}

// -- how solvers look --------------------------------------------------------------------------

const SHAPES = {
  circle: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  square: "M-3.6-3.6h7.2v7.2h-7.2z",
  diamond: "M0-5.2l4 5.2l-4 5.2l-4-5.2z",
  "triangle-up": "M0-4.6l4.8 8.4h-9.6z",
  "triangle-down": "M0 4.6l4.8-8.4h-9.6z",
  cross: "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
  "triangle-right": "M4.6 0l-8.4 4.8v-9.6z",
};

function swatch({ color, shape, strokeDash }) {
  const drawing = make("template");
  drawing.innerHTML =
    '<svg viewBox="-13 -6 26 12" width="26" height="12" aria-hidden="true">' +
    `<path d="M-13 0h26" stroke="${color}" stroke-width="1.8" stroke-dasharray="${strokeDash}"/>` +
    `<path d="${SHAPES[shape]}" fill="${color}"/></svg>`;
  return drawing.content.firstChild;
}

function dot(color) {
  const drawing = make("template");
  drawing.innerHTML = `<svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="4" fill="${color}"/></svg>`;
  return drawing.content.firstChild;
}

// -- one choice of solvers for all charts and tables --------------------------------------------

// The only cell of a row; -1 for a row of several, and elsewhere.
const onlyCell = (part) => (/^\d+$/.test(part.dataset.cells ?? "") ? Number(part.dataset.cells) : -1);

function toggle(set, value) {
  if (!set.delete(value)) set.add(value);
}

function choose(name, event) {
  if (event?.shiftKey || event?.detail === 2) {
    toggle(state.hidden, name);
    state.focus = "";
  } else if (state.hidden.has(name)) state.hidden.delete(name);
  else state.focus = state.focus === name ? "" : name;
  refresh();
}

let waiting = 0; // a pointer crosses many marks before the next picture

function pointAt(name, cell = -1) {
  if (state.over === name && state.cell === cell) return;
  state.over = name;
  state.cell = cell;
  waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    showSolvers();
  });
}

function showSolvers() {
  const shown = state.over || state.focus;
  for (const part of document.querySelectorAll("[data-solver]")) {
    const name = SOLVERS[part.dataset.solver]?.name; // of others nothing is drawn
    const cell = onlyCell(part);
    const isOther = state.cell >= 0 && cell >= 0 && cell !== state.cell;
    part.classList.toggle("on", name === shown && !isOther);
    part.classList.toggle("off", shown !== "" && name !== shown);
    part.classList.toggle("gone", state.hidden.has(name));
    if (part.matches("button")) {
      part.setAttribute("aria-pressed", name === state.focus);
      part.setAttribute("aria-label", state.hidden.has(name) ? `${name}, hidden` : name);
    }
  }
  for (const { view } of drawn.values()) {
    view.signal("focus", shown).signal("cell", state.cell);
    view.runAsync();
  }
}

function refresh() {
  for (const part of document.querySelectorAll("[data-game]"))
    part.hidden = GAMES[part.dataset.game].name !== state.game;
  const isChanged = state.focus !== "" || state.hidden.size > 0;
  for (const button of document.querySelectorAll("#solvers .reset")) button.hidden = !isChanged;
  for (const name of Object.keys(SPECS))
    document.getElementById(name).classList.toggle("empty", rowsOf(name).length === 0);
  for (const { view } of drawn.values()) view.signal("hidden", [...state.hidden]);
  showSolvers();
  writeAddress();
}

function link(part) {
  const { name } = SOLVERS[part.dataset.solver];
  const cell = onlyCell(part);
  // after the mouseout of a chart, unlike pointerenter
  part.addEventListener("mouseenter", () => pointAt(name, cell));
  part.addEventListener("mouseleave", () => pointAt(""));
}

const HINT =
  "Click a solver to single it out, Shift-click to hide it. " +
  "Ctrl and wheel zoom a chart, a double click resets it.";

function legend() {
  const bar = document.getElementById("solvers");
  if (!SOLVERS.length || !bar) return;
  const chips = SOLVERS.map(({ name, look }, place) =>
    make(
      "button",
      {
        type: "button",
        class: "chip",
        "data-solver": place,
        onclick: (event) => choose(name, event),
      },
      swatch(look),
      name,
    ),
  );
  const reset = () => {
    state.focus = "";
    state.hidden.clear();
    refresh();
  };
  const games = GAMES.map(({ name }) => make("option", { selected: name === state.game }, name));
  const oninput = ({ target }) => play(target.value);
  const pick = make("select", { "aria-label": "game", oninput }, ...games);
  bar.append(
    ...(GAMES.length > 1 ? [make("label", {}, "game ", pick)] : []),
    make("span", { class: "chips" }, ...chips),
    make("button", { type: "button", class: "reset", onclick: reset }, "show all"),
  );
  document.querySelector("nav").append(make("p", {}, HINT));
}

function play(game) {
  state.game = game;
  document.querySelector("#solvers select").value = game;
  showChoices();
  refresh();
  redraw();
}

// -- charts ------------------------------------------------------------------------------------

const drawn = new Map(); // by name: what vegaEmbed gave
let isPrinted = false;
const SWITCHES = {}; // by name of a parameter: its choices with their titles, and the usual one
for (const { params, usermeta } of Object.values(SPECS))
  for (const { name, value: usual } of params)
    if (name in usermeta.switches) SWITCHES[name] = { choices: usermeta.switches[name], usual };

function choiceOf(name) {
  const { choices, usual } = SWITCHES[name];
  return [state.switches[name], variedPlayers()[name]].find((one) => one in choices) ?? usual;
}

// The first two players whose payoffs differ between the equilibria of the game.
function variedPlayers() {
  const rows = (DATASETS.equilibria ?? []).filter(({ game }) => game === state.game);
  const isPaid = ([key, value]) => /^u\d+$/.test(key) && value !== null;
  const players = Object.entries(rows[0] ?? {}).filter(isPaid).map(([key]) => key.slice(1));
  const extent = (player) => {
    const paid = rows.map((row) => row[`u${player}`]);
    return Math.max(...paid) - Math.min(...paid);
  };
  const least = 1e-3 * Math.max(...players.map(extent)); // less is rounding
  const varied = players.filter((player) => extent(player) > least);
  const [across, player] = new Set([...varied, ...players]);
  return player ? { across, player } : {};
}

function showChoices() {
  for (const select of document.querySelectorAll("[data-switch]"))
    select.value = choiceOf(select.dataset.switch);
}

function themed(isLight) {
  const colors = { "--ink": "#1f2933", "--soft": "#5b6672", "--line": "#dfe3e8" };
  const [ink, soft, line] = Object.entries(colors).map(([name, color]) =>
    isLight ? color : `var(${name})`,
  );
  const lines = { gridColor: line, domainColor: soft, tickColor: soft };
  const axis = { labelColor: soft, titleColor: ink, ...lines };
  return { axis, legend: { labelColor: ink, titleColor: ink }, title: { color: ink } };
}

function encodings(part, found = []) {
  if (part.encoding) found.push(part.encoding);
  for (const layer of part.layer ?? []) encodings(layer, found);
  return found;
}

// The chart as a specification; for paper it has its legend within it, and is light on any screen.
function filled(name, forPaper) {
  const spec = structuredClone(SPECS[name]);
  const { titles = {} } = spec.usermeta;
  const given = { game: state.game, focus: state.focus, hidden: [...state.hidden], cell: -1 };
  for (const param of spec.params)
    if (param.name in SWITCHES) param.value = choiceOf(param.name);
    else if (param.name in given) param.value = given[param.name];
  for (const encoding of encodings(spec))
    for (const channel of ["x", "y", "color", "shape", "strokeDash", "fill"]) {
      const own = encoding[channel];
      if (!own) continue;
      const named = (titles[channel] ?? []).map((param) => SWITCHES[param].choices[choiceOf(param)]);
      if (own.title && named.length) own.title = named.join(": ");
      const isLinear = state.linear.has(`${name}.${channel}`);
      if (own.scale?.type === "log" && isLinear)
        Object.assign(own.scale, { type: "linear", zero: false });
      if (own.field === "solver" && !forPaper) own.legend = null;
    }
  const solvers = new Set(rowsOf(name).map((row) => row.solver));
  if (spec.height.step) spec.height = spec.height.step * solvers.size;
  spec.width = forPaper ? 720 : "container";
  spec.background = forPaper ? "white" : null;
  for (const [part, values] of Object.entries(themed(forPaper)))
    spec.config[part] = { ...spec.config[part], ...values };
  return { ...spec, datasets: DATASETS };
}

const OPTIONS = { ast: true, actions: false, defaultStyle: false, renderer: "svg", logLevel: 0 };

async function draw(name) {
  const canvas = document.querySelector(`#${CSS.escape(name)} .chart`);
  const place = make("div");
  canvas.replaceChildren(place);
  const spec = filled(name, isPrinted);
  const chart = await vegaEmbed(place, spec, { ...OPTIONS, tooltip: showTooltip });
  if (!place.isConnected) return chart.finalize(); // it was drawn again meanwhile
  drawn.get(name)?.finalize();
  drawn.set(name, chart);
  chart.view.addEventListener("mouseover", (_, item) =>
    pointAt(solverOf(item), item?.datum?.cell ?? -1),
  );
  chart.view.addEventListener("mouseout", () => pointAt(""));
  chart.view.addEventListener("click", (event, item) => {
    if (solverOf(item)) choose(solverOf(item), { shiftKey: event.shiftKey }); // two clicks reset
  });
  canvas.setAttribute("data-drawn", "");
  showSolvers();
}

function solverOf(item) {
  const datum = item?.datum ?? {};
  return datum.solver ?? CELLS.get(datum.cell)?.solver ?? "";
}

// The rows that a chart shows, of cells and their solvers.
function rowsOf(name) {
  const { rows, needs, isOfGame } = SPECS[name].usermeta;
  return (DATASETS[rows] ?? [])
    .map((row) => ({ ...(CELLS.get(row.cell) ?? {}), ...row }))
    .filter((row) => !needs || (row[needs] ?? null) !== null)
    .filter((row) => (!isOfGame || row.game === state.game) && !state.hidden.has(row.solver));
}

function controls(name) {
  const place = document.querySelector(`#${CSS.escape(name)} .filters`);
  const { switches, log = [] } = SPECS[name].usermeta;
  for (const [param, choices] of Object.entries(switches)) {
    const options = Object.entries(choices).map(([value, text]) => make("option", { value }, text));
    const oninput = ({ target }) => {
      state.switches[param] = target.value;
      redraw([...drawn.keys()].filter((other) => param in SPECS[other].usermeta.switches));
    };
    const named = { "aria-label": param, "data-switch": param };
    const select = make("select", { ...named, oninput }, ...options);
    const isIdle = param === "seeds" && DATASETS.cells.every((cell) => cell.alone);
    if (options.length > 1 && !isIdle) place.append(select);
  }
  for (const channel of log) {
    const key = `${name}.${channel}`;
    const oninput = () => {
      toggle(state.linear, key);
      redraw([name]);
    };
    const checked = !state.linear.has(key);
    const box = make("input", { type: "checkbox", checked, "data-log": channel, oninput });
    place.append(make("label", { class: "check" }, box, `log ${channel}`));
  }
}

// Of what is not displayed the width is not known.
const isDisplayed = (name) => !document.querySelector(`#${CSS.escape(name)}.empty:not(.tabs > *)`);

function redraw(names = [...drawn.keys()]) {
  names.filter(isDisplayed).forEach(draw);
  writeAddress();
}

// Bring a card to the front and into view.
function reveal(id) {
  document.querySelector(`[role=tab][aria-controls~="${id}"]`)?.click();
  document.getElementById(id).scrollIntoView();
}

function startTabs(place) {
  const titles = new Map(); // with their cards, of which each may be that of a game
  for (const card of place.children) {
    const title = card.querySelector("h3").textContent;
    titles.set(title, [...(titles.get(title) ?? []), card]);
  }
  const tabs = [...titles.values()];
  const show = (front) => {
    for (const [k, cards] of tabs.entries()) {
      for (const card of cards) card.classList.toggle("behind", cards !== front);
      buttons[k].setAttribute("aria-selected", cards === front);
      if (cards !== front || k === 0) state.tabs.delete(cards[0].id);
      else state.tabs.add(cards[0].id);
    }
  };
  const buttons = tabs.map((cards) => {
    const onclick = () => {
      show(cards);
      writeAddress();
    };
    const controls = cards.map(({ id }) => id).join(" ");
    const named = { type: "button", role: "tab", "aria-controls": controls, onclick };
    return make("button", named, cards[0].querySelector("h3").textContent);
  });
  if (tabs.length > 1) place.prepend(make("div", { role: "tablist" }, ...buttons));
  show(tabs.find(([first]) => state.tabs.has(first.id)) ?? tabs[0]);
  const played = place.querySelector(".played");
  if (!played) return;
  const onclick = (event) => {
    event.preventDefault();
    reveal(place.querySelector(".played:not([hidden])")?.id ?? played.id);
  };
  const link = make("a", { href: `#${played.id}`, onclick }, played.querySelector("h3").textContent);
  document.querySelector("nav li").after(make("li", {}, link));
}

function startCharts() {
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting) {
          seen.unobserve(target);
          draw(target.id);
        }
    },
    { rootMargin: "300px" },
  );
  for (const name of Object.keys(SPECS)) {
    controls(name);
    seen.observe(document.getElementById(name));
  }
  showChoices();
  matchMedia("print").addEventListener("change", ({ matches }) => toPaper(matches));
  addEventListener("beforeprint", () => toPaper(true));
  addEventListener("afterprint", () => toPaper(false));
}

// Browsers print at once what stands here when the scripts of this moment have ended.
function toPaper(isOn) {
  if (isPrinted === isOn) return;
  isPrinted = isOn;
  Object.keys(SPECS).filter(isDisplayed).forEach(draw);
}

const tip = make("div", { id: "tip", role: "tooltip", hidden: true });

function showTooltip(_, event, item, value) {
  tip.hidden = !value;
  if (!value) return;
  const facts = Object.entries(value)
    .filter(([, text]) => text && text !== "null")
    .map(([key, text]) => make("div", {}, make("b", {}, key), ` ${text}`));
  tip.replaceChildren(...facts);
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const beside = (at, size, end) => Math.max(4, at + 14 + size > end ? at - size - 10 : at + 14);
  tip.style.left = `${beside(event.clientX, width, innerWidth)}px`;
  tip.style.top = `${beside(event.clientY, height, innerHeight)}px`;
}

// -- tables ------------------------------------------------------------------------------------

const valueOf = (cell) =>
  cell.hasAttribute("data-none") ? null : (cell.dataset.value ?? cell.textContent);
const rowsIn = (table) => [...table.tBodies[0].rows].filter((row) => !row.matches(".details"));
const titleOf = (head) => head.dataset.name ?? head.textContent;

// What has no value stands last in either direction.
function compare(a, b, numeric, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
}

function sortBy(head, sign) {
  const table = head.closest("table");
  state.sorts[head.closest(".card").id] = `${head.cellIndex}:${sign}`;
  for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const numeric = head.classList.contains("number");
  const rows = rowsIn(table).map((row) => [valueOf(row.cells[head.cellIndex]), row]);
  rows.sort(([a], [b]) => compare(a, b, numeric, sign));
  for (const [, row] of rows) table.tBodies[0].append(row, ...(row.opened ? [row.opened] : []));
}

function filterRows(card) {
  const words = card.querySelector("input[type=search]").value.toLowerCase().split(/\s+/);
  const lists = [...card.querySelectorAll("select[data-column]")].filter((list) => list.value);
  const rows = rowsIn(card.querySelector("table"));
  for (const row of rows) {
    const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
    row.hidden =
      !words.every((word) => text.includes(word)) ||
      !lists.every((list) => row.cells[list.dataset.column].textContent === list.value);
    if (row.opened) row.opened.hidden = row.hidden;
  }
  const shown = rows.filter((row) => !row.hidden).length;
  const total = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
  card.querySelector("output").textContent = shown === rows.length ? total : `${shown} of ${total}`;
}

function columnChoice(card) {
  const heads = [...card.querySelectorAll("thead th")];
  const show = (at) => {
    const isHidden = state.without.has(`${card.id}.${at}`);
    for (const row of [card.querySelector("thead tr"), ...rowsIn(card.querySelector("table"))])
      row.cells[at].hidden = isHidden;
  };
  const boxes = heads.slice(1).map((head, k) => {
    const key = `${card.id}.${k + 1}`;
    const oninput = () => {
      toggle(state.without, key);
      show(k + 1);
      writeAddress();
    };
    const box = make("input", { type: "checkbox", checked: !state.without.has(key), oninput });
    show(k + 1);
    return make("label", { class: "check" }, box, titleOf(head).replaceAll("\n", " "));
  });
  const parts = [make("summary", {}, "columns"), make("div", {}, ...boxes)];
  card.querySelector(".filters").append(make("details", { class: "columns" }, ...parts));
}

function csv(columns, rows) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  // a spreadsheet would compute a name such as =A1
  const inert = (text) => (/^\s*[=+\-@]/.test(text) && isNaN(text) ? `'${text}` : text);
  const line = (values) => values.map((v) => quoted(inert(String(v ?? "")))).join(",") + "\r\n";
  return line(columns) + rows.map(line).join("");
}

function tableCsv(table) {
  const rows = rowsIn(table).filter((row) => !row.hidden);
  const titles = [...table.tHead.rows[0].cells].map(titleOf);
  return csv(titles, rows.map((row) => [...row.cells].map(valueOf)));
}

function chartCsv(name) {
  const rows = rowsOf(name);
  const columns = [...new Set(rows.flatMap(Object.keys))];
  return csv(columns, rows.map((row) => columns.map((column) => row[column])));
}

function startTable(card) {
  for (const button of card.querySelectorAll("thead button"))
    button.addEventListener("click", () => {
      const head = button.closest("th");
      sortBy(head, head.ariaSort === "ascending" ? -1 : 1);
      writeAddress();
    });
  const fields = card.querySelectorAll(".filters > input, .filters > select");
  for (const field of fields) {
    const key = field.matches("select") ? `${card.id}.${field.dataset.column}` : card.id;
    field.value = state.finds[key] ?? "";
    field.addEventListener("input", () => {
      state.finds[key] = field.value;
      filterRows(card);
      writeAddress();
    });
  }
  if (card.querySelector(".filters")) columnChoice(card);
  if (fields.length) filterRows(card);
  const [column, sign] = (state.sorts[card.id] ?? "").split(":");
  const head = card.querySelectorAll("thead th")[Number(column || -1)];
  if (head) sortBy(head, Number(sign));
}

// -- rows that open to all that a cell found ---------------------------------------------------

const number = (value, digits = 6) =>
  value === null || value === undefined ? "–" : String(Number(Number(value).toPrecision(digits)));

const regret = (value) => (value > 0 ? value.toExponential(2) : "0");

function candidate(cell, item, rank) {
  const isExact = item.exact && item.max_regret === 0;
  const facts = [
    ["max regret", isExact ? "0 exactly" : regret(item.max_regret)],
    ["NashConv", regret(item.nash_conv)],
    ["payoffs", item.payoffs.map((payoff) => number(payoff)).join("  ")],
    ...item.lines.map((line) => line.trim().match(/^(?:([^:]*): )?(.*)$/).slice(1)),
    ["profile", item.claim],
    ["refuted", item.refuted ?? ""],
  ].filter(([, text]) => text !== "");
  const listed = cell.equilibria.filter(({ claim, identity }) => claim === "complete list" && identity);
  const alike = listed.filter(({ identity }) => identity.name === item.identity?.name);
  const what = item.claim === "complete list" && alike.length > 1 ? "extreme equilibrium" : "candidate";
  const lines = facts.map(([name, text]) =>
    make("div", {}, make("dt", {}, name ?? ""), make("dd", {}, text)),
  );
  return make(
    "div",
    { class: "candidate" },
    make("h4", {}, `${what} ${rank}`, fileLink(cell, item.profile, "profile"), playedLink(cell, item)),
    make("dl", {}, ...lines),
  );
}

function fileLink(cell, path, text) {
  const { folder } = DATA.runs.find((run) => run.label === cell.run);
  if (!path || folder === null) return null;
  const address = (folder + path).split("/").map(encodeURIComponent).join("/");
  return make("a", { href: address, class: "file" }, text);
}

// A link to the card that shows what a candidate plays, if its profile is on the page.
function playedLink(cell, item) {
  for (const [id, { profiles }] of Object.entries(DATA.played ?? {})) {
    const place = profiles.findIndex(({ run, path }) => run === cell.run && path && path === item.profile);
    if (place < 0) continue;
    const onclick = (event) => {
      event.preventDefault();
      const select = document.querySelector(`#${id} select`);
      select.value = place;
      select.dispatchEvent(new Event("input"));
      reveal(id);
    };
    return make("a", { href: `#${id}`, class: "file", onclick }, "what it plays");
  }
  return null;
}

const KEY =
  "A hash of all that a result may depend on: the content of the game, the solver with its " +
  "options, version and source, the seed and the limits. Equal keys mean the same work.";

// All that the cells of a row found; those of several open one by one.
function details(row) {
  const places = row.dataset.cells.split(" ").filter(Boolean);
  const parts = places.length === 1 ? report(places[0]) : places.map(folded);
  return make("tr", { class: "details" }, make("td", { colspan: row.cells.length }, ...parts));
}

function folded(place) {
  const { seed, repeat, status, max_regret: gain, elapsed_s: time } = DATA.cells[place];
  const figures = [gain === null ? "" : `max regret ${regret(gain)}`, time === null ? "" : `${number(time, 3)} s`];
  const name = [seed === null ? "" : `seed ${seed}`, repeat ? `repeat ${repeat}` : ""].join(" ");
  const text = [name.trim(), status, ...figures].filter(Boolean).join(", ");
  const part = make("details", {}, make("summary", {}, text));
  const fill = () => part.append(...report(place));
  part.addEventListener("toggle", fill, { once: true });
  return part;
}

function report(place) {
  const cell = DATA.cells[place];
  const shown = cell.equilibria;
  const made = `key ${cell.key}, ${cell.solver_spec} ${cell.solver_version} on ${cell.game_spec}`;
  const left = `This page has ${shown.length} of ${cell.candidates} candidates. All of them: `;
  const notes = [
    cell.reason ? make("p", {}, cell.reason) : null,
    make("p", {}, fileLink(cell, cell.log, "log"), fileLink(cell, cell.trace, "trace")),
    cell.candidates ? null : make("p", {}, "There is no measured profile."),
    cell.candidates > shown.length ? make("p", {}, left, make("code", {}, cell.command)) : null,
  ];
  const items = shown.map((item, rank) => candidate(cell, item, rank));
  const key = make("p", { class: "notes", title: KEY }, made);
  return [...notes.filter(Boolean), make("div", { class: "candidates" }, ...items), key];
}

function openRow(row) {
  row.opened?.remove();
  row.opened = row.opened ? null : details(row);
  if (row.opened) row.after(row.opened);
  row.querySelector(".open").setAttribute("aria-expanded", row.opened !== null);
}

function startRow(row) {
  const first = row.cells[0];
  const own = first.textContent;
  const place = SOLVERS.findIndex(({ name }) => name === own);
  const isOpening = Boolean(row.dataset.cells);
  row.dataset.solver = place;
  if (place >= 0) {
    const { name, look } = SOLVERS[place];
    const mark = swatch(look);
    first.prepend(mark);
    link(row);
    (isOpening ? mark : first).addEventListener("click", (event) => {
      event.stopPropagation();
      choose(name, event);
    });
  }
  if (!isOpening) return;
  const [cell] = row.dataset.cells.split(" ");
  const press = () => {
    openRow(row);
    toggle(state.open, cell);
    writeAddress();
  };
  const label = { "aria-expanded": "false", "aria-label": `all that ${own} found` };
  first.prepend(make("button", { type: "button", class: "open", ...label }));
  row.addEventListener("click", (event) => {
    if (!event.target.closest("a") && !String(getSelection())) press();
  });
  if (state.open.has(cell)) openRow(row);
}

// A row for each game leads to the table of its solvers, a heading has the mark of its solver or
// the color of its equilibrium, and on a telephone a row is a card of its own.
function startNames(table) {
  const heads = [...table.tHead.rows[0].cells];
  const { game } = table.closest(".card").dataset;
  const ofGame = ({ game: own }) => game !== undefined && own === GAMES[game].name;
  const colors = new Map(
    (DATASETS.names ?? []).filter(ofGame).map(({ name, title, color }) => [name, { title, color }]),
  );
  for (const head of heads.slice(1)) {
    const look = SOLVERS.find(({ name }) => name === titleOf(head))?.look;
    const { title, color } = colors.get(titleOf(head)) ?? {};
    if (look || color) head.dataset.name = titleOf(head);
    if (title && title !== head.dataset.name) {
      head.title = head.dataset.name;
      head.classList.add("worded");
      head.querySelector("button").textContent = title;
    }
    const mark = look ? swatch(look) : color ? dot(color) : "";
    head.querySelector("button").prepend(mark);
  }
  for (const row of rowsIn(table)) {
    for (const [k, head] of heads.entries())
      row.cells[k].dataset.label = head.matches(".worded") ? head.textContent : titleOf(head);
    const name = row.cells[0].textContent;
    if (titleOf(heads[0]) === "game" && GAMES.some((known) => known.name === name))
      row.addEventListener("click", () => {
        play(name);
        document.querySelector("[id^=matrix]:not([hidden])")?.scrollIntoView({ block: "nearest" });
      });
  }
}

// -- downloads ---------------------------------------------------------------------------------

function save(blob, name) {
  const anchor = make("a", { href: URL.createObjectURL(blob), download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
}

async function picture(name, take) {
  const chart = await vegaEmbed(make("div"), filled(name, true), { ...OPTIONS, tooltip: () => {} });
  const made = await take(chart.view);
  chart.finalize();
  return made;
}

const SAVE = {
  csv: (card) => {
    const text = card.id in SPECS ? chartCsv(card.id) : tableCsv(card.querySelector("table"));
    save(new Blob([text], { type: "text/csv" }), `${card.id}.csv`);
  },
  svg: async (card) => {
    const text = await picture(card.id, (view) => view.toSVG());
    save(new Blob([text], { type: "image/svg+xml" }), `${card.id}.svg`);
  },
  png: async (card) => {
    const canvas = await picture(card.id, (view) => view.toCanvas(2));
    canvas.toBlob((blob) => save(blob, `${card.id}.png`), "image/png");
  },
};

// -- start -------------------------------------------------------------------------------------

readAddress();
document.body.append(tip);
legend();
for (const table of document.querySelectorAll(":is([id^=matrix], #status) table")) startNames(table);
for (const table of document.querySelectorAll("table"))
  if (titleOf(table.tHead.rows[0].cells[0]) === "solver") rowsIn(table).forEach(startRow);
for (const chip of document.querySelectorAll(".chip")) link(chip);
for (const card of document.querySelectorAll(".card")) {
  for (const button of card.querySelectorAll("button[data-save]"))
    button.addEventListener("click", () => SAVE[button.dataset.save](card));
  if (card.querySelector("table")) startTable(card);
}
for (const anchor of document.querySelectorAll("nav a"))
  anchor.addEventListener("click", (event) => {
    if (!location.hash.includes("=")) return; // else the address keeps the state
    event.preventDefault();
    document.querySelector(anchor.getAttribute("href")).scrollIntoView();
  });
document.querySelectorAll(".tabs").forEach(startTabs);
startCharts();
refresh();
