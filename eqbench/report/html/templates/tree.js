"use strict";
// Game trees that a reader opens node by node; what stands below a node is made when it is opened.
{
const PALE = 1e-6; // reached with less
const MOST_ROWS = 50; // children, or nodes of an information set, that are made at once
const MOST_OPENED = 300;
const FEW = 8; // children of the start that a report shows at first
const [CHANCE, END] = [-1, -2];

const valueOf = (figure) => {
  const [top, bottom] = String(figure).split("/").map(Number);
  return bottom ? top / bottom : top;
};
const text = (figure) => {
  if (figure === null) return "?";
  const isTiny = figure !== 0 && Math.abs(figure) < 1e-3;
  const shown = typeof figure === "string" ? figure : isTiny ? figure.toExponential(2) : number(figure, 4);
  return shown.replace(/^-/, "\u2212");
};
const row = (tag, ...values) => make("tr", {}, ...values.map((value) => make(tag, {}, value)));
const table = (heads, rows) => make("table", {}, make("thead", {}, row("th", ...heads)), make("tbody", {}, ...rows));

// Whose child a node is, and which of the figures of its kind are its own.
function shapeOf({ counts, set, actions }) {
  const shape = { first: [], parent: [-1], place: [], decided: [], drawn: [], start: [0] };
  let [next, inner, ends, decisions, draws] = [1, 0, 0, 0, 0];
  counts.forEach((count, node) => {
    shape.first[node] = next;
    for (const last = next + count; next < last; next++) {
      shape.parent[next] = node;
      shape.drawn[next] = set[node] === CHANCE ? draws++ : -1;
    }
    shape.place[node] = set[node] === END ? ends++ : inner++;
    shape.decided[node] = set[node] >= 0 ? decisions++ : -1;
  });
  actions.forEach((own, k) => (shape.start[k + 1] = shape.start[k] + own.length));
  return shape;
}

function startTree(figure) {
  const tree = DATA.trees[figure.id];
  const { counts, set, players, profiles } = tree;
  const { first, parent, place, decided, drawn, start } = shapeOf(tree);
  const [outline, panel] = [figure.querySelector(".outline"), figure.querySelector(".node")];
  let [own, chosen, lines] = [profiles[0], 0, new Map()];

  const childrenOf = (node) => Array.from({ length: counts[node] }, (_, k) => first[node] + k);
  const wayTo = (node) => (node < 0 ? [] : [...wayTo(parent[node]), node]);
  const isPale = (node) => Boolean(own) && valueOf(own.reach[node]) < PALE;
  const ownerOf = (node) => tree.owners[set[node]];
  const rankOf = (node) => node - first[parent[node]];
  function moveOf(node) {
    if (!node) return tree.above.at(-1) ?? "start";
    if (drawn[node] >= 0) return tree.outcomes[drawn[node]] || `outcome ${rankOf(node) + 1}`;
    return tree.actions[set[parent[node]]][rankOf(node)];
  }
  function shareOf(node) {
    if (!node) return "";
    return drawn[node] >= 0 ? tree.odds[drawn[node]] : own ? own.shares[start[set[parent[node]]] + rankOf(node)] : "";
  }
  const worthOf = (node, player) => (set[node] === END ? tree.payoffs[place[node]] : own.worth.map((of) => of[place[node]]))[player];
  function colored(part, node) {
    part.style.setProperty("--own", set[node] < 0 ? "var(--soft)" : `var(--p${ownerOf(node) % 6})`);
    return part;
  }
  function mover(node) {
    if (set[node] < 0) return make("i", {}, set[node] === CHANCE ? "chance" : "end");
    return colored(make("span", { class: "mover", title: players[ownerOf(node)] }, `${ownerOf(node) + 1}`), node);
  }

  function lineOf(node) {
    const where = set[node] >= 0 ? tree.labels[set[node]] : set[node] === END ? `(${tree.payoffs[place[node]].map(text).join(", ")})` : "";
    const parts = [make("b", {}, moveOf(node)), make("small", {}, text(shareOf(node))), set[node] === END ? "" : mover(node), make("span", {}, where)];
    if (own) parts.push(make("small", {}, `reach ${text(own.reach[node])}`));
    if (set[node] !== END && !counts[node]) parts.push(make("small", {}, "…"));
    const line = counts[node] ? make("details", {}, make("summary", {}, ...parts)) : make("div", {}, make("span", { tabindex: 0 }, ...parts));
    line.firstChild.addEventListener("click", () => choose(node));
    line.addEventListener("toggle", () => line.open && open(node));
    line.classList.toggle("pale", isPale(node));
    lines.set(node, colored(line, node));
    return line;
  }

  function open(node) {
    const line = lines.get(node);
    line.open = true;
    if (line.childElementCount < 2) more(line, childrenOf(node));
  }

  function more(line, nodes) {
    line.append(...nodes.slice(0, MOST_ROWS).map(lineOf));
    const rest = nodes.slice(MOST_ROWS);
    const onclick = ({ target }) => {
      target.remove();
      more(line, rest);
    };
    if (rest.length) line.append(make("button", { type: "button", onclick }, `${rest.length} more`));
  }

  // Open all nodes on the way to one, and what stands behind "more".
  function bring(node) {
    if (!node) return;
    bring(parent[node]);
    open(parent[node]);
    while (!lines.has(node)) lines.get(parent[node]).lastChild.click();
  }

  function choose(node) {
    bring(node);
    chosen = node;
    for (const [other, line] of lines) {
      line.classList.toggle("chosen", other === node);
      line.classList.toggle("same", set[other] >= 0 && set[other] === set[node]);
    }
    const [line, box] = [lines.get(node).firstChild, outline].map((part) => part.getBoundingClientRect());
    outline.scrollTop += Math.min(line.top - box.top - 8, 0) + Math.max(line.bottom - box.bottom + 24, 0);
    outline.scrollLeft += line.left - box.left - 60;
    panel.replaceChildren(...facts(node));
  }

  function follow() {
    const better = (best, node) => (valueOf(shareOf(node)) > valueOf(shareOf(best)) ? node : best);
    let node = chosen;
    while (counts[node]) node = childrenOf(node).reduce(better);
    choose(node);
  }

  function openPlayed() {
    for (const [node] of lines) // which grows meanwhile
      if (counts[node] && !isPale(node) && lines.size < MOST_OPENED) open(node);
  }

  function facts(node) {
    const path = wayTo(node).map((at) => make("button", { type: "button", onclick: () => choose(at) }, moveOf(at)));
    const where = set[node] >= 0 ? ` ${players[ownerOf(node)]} at ${tree.labels[set[node]] || '""'}` : "";
    const parts = [make("p", { class: "path" }, tree.above.slice(0, -1).map((move) => `${move} \u203A `).join(""), ...path)];
    parts.push(make("h4", {}, mover(node), where));
    if (own) parts.push(make("p", {}, `reached with probability ${text(own.reach[node])}`));
    const paid = own || set[node] === END ? players.map((name, k) => `${name} ${text(worthOf(node, k))}`) : [];
    if (paid.length) parts.push(make("p", {}, `payoffs from here on: ${paid.join(", ")}`));
    return set[node] < 0 ? parts : [...parts, actions(node), ...nodesOf(node)];
  }

  function actions(node) {
    const rows = tree.actions[set[node]].map((action, k) => {
      if (!own) return row("td", action);
      const at = start[set[node]] + k;
      const bar = colored(make("span", { class: "share" }), node);
      bar.style.width = `${100 * valueOf(own.shares[at])}%`;
      const here = counts[node] ? text(worthOf(first[node] + k, ownerOf(node))) : "";
      const made = row("td", action, text(own.shares[at]), here, text(own.values[at]), text(own.gains[at]));
      made.firstChild.append(bar);
      return made;
    });
    return table(["action", ...(own ? ["frequency", "here", "value", "gain"] : [])], rows);
  }

  function nodesOf(node) {
    const one = set[node];
    const nodes = set.flatMap((other, at) => (other === one ? [at] : [])).slice(0, MOST_ROWS);
    const missing = tree.sizes[one] - nodes.length;
    let about = `Information set of ${tree.sizes[one]} node${tree.sizes[one] > 1 ? "s" : ""}${missing ? `, ${missing} of them not here` : ""}`;
    if (own) {
      const kind = valueOf(own.others[one]) ? "forced by how chance and others play" : own.belief[decided[node]] === null ? "free, none is known" : "free, the one that supports best what is played";
      about += `: reached with probability ${text(own.sets[one])}, by chance and others alone ${text(own.others[one])}. Belief: ${kind}`;
    }
    const rows = nodes.map((at) => {
      const way = wayTo(at).slice(1).map(moveOf).join(" \u203A ") || "start";
      return row("td", make("button", { type: "button", onclick: () => choose(at) }, way), own ? text(own.belief[decided[at]]) : "");
    });
    return [make("p", {}, `${about}.`), make("div", { class: "within" }, table(["history", own ? "belief" : ""], rows))];
  }

  function reset() {
    lines = new Map();
    outline.replaceChildren(lineOf(0));
    if (counts[0] <= FEW || !("game" in figure.dataset)) open(0);
    choose(chosen);
    if (!own) return;
    const paid = players.map((name, k) => `${name} ${text(own.payoffs[k])}`).join(", ");
    figure.querySelector("figcaption > span").textContent = `${own.title ? `${own.title}: ` : ""}payoffs ${paid}; max regret ${text(own.max_regret[0])}`;
  }

  const oninput = ({ target }) => {
    own = profiles[target.value];
    reset();
  };
  const select = make("select", { "aria-label": "profile", oninput }, ...profiles.map(({ title }, value) => make("option", { value }, title)));
  const close = () => {
    chosen = 0;
    reset();
  };
  const buttons = Object.entries({ "follow the likeliest play": follow, "open what is played": openPlayed, "close all": close });
  const shown = buttons.slice(own ? 0 : 2).map(([name, onclick]) => make("button", { type: "button", onclick }, name));
  figure.querySelector(".filters").append(...(profiles.length > 1 ? [select] : []), ...shown);
  reset();
}

for (const figure of document.querySelectorAll("[data-tree]")) startTree(figure);
}
