"use strict";
// Game trees that a reader opens node by node; rows are made when they are opened.
{
const PALE = 1e-6; // reached with less
const MOST_ROWS = 50; // children, or nodes of an information set, that are shown at once
const MOST_OPENED = 300;
const [CHANCE, END] = [-1, -2];

const valueOf = (figure) => {
  const [top, bottom] = String(figure).split("/").map(Number);
  return bottom ? top / bottom : top;
};
// Fractions as they are; minus signs of exponents stay hyphens.
const text = (figure) => {
  const isTiny = figure !== 0 && Math.abs(figure) < 1e-3;
  const shown = typeof figure === "string" ? figure : isTiny ? figure.toExponential(2) : number(figure, 4);
  return shown.replace(/^-/, "\u2212");
};
const cells = (tag, ...values) => values.map((value) => make(tag, {}, value));

// Whose child a node is, and which of the figures of its kind are its own.
function shapeOf({ counts, set, actions }) {
  const shape = { first: [], parent: [-1], place: [], decided: [], drawn: [], start: [0] };
  let [next, inner, ends, decisions, draws] = [1, 0, 0, 0, 0];
  counts.forEach((count, node) => {
    shape.first[node] = next;
    for (let k = 0; k < count; k++, next++) {
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
  const lines = new Map(); // of nodes that were opened
  let own = profiles[0];
  let chosen = 0;

  const childrenOf = (node) => Array.from({ length: counts[node] }, (_, k) => first[node] + k);
  const actionOf = (node) => start[set[parent[node]]] + node - first[parent[node]];
  const isDrawn = (node) => set[parent[node]] === CHANCE;
  const reach = (node) => (own ? valueOf(own.reach[node]) : 1);
  const ownerOf = (node) => tree.owners[set[node]];
  const within = (one) => set.flatMap((other, node) => (other === one ? [node] : []));

  function moveOf(node) {
    if (!node) return tree.above.at(-1) ?? "start";
    if (isDrawn(node)) return tree.outcomes[drawn[node]] || `outcome ${node - first[parent[node]] + 1}`;
    return tree.actions[set[parent[node]]][node - first[parent[node]]];
  }
  const shareOf = (node) => {
    if (!node) return "";
    return isDrawn(node) ? tree.odds[drawn[node]] : own ? own.shares[actionOf(node)] : "";
  };
  const worthOf = (node, player) =>
    set[node] === END ? tree.payoffs[place[node]][player] : own ? own.worth[player][place[node]] : null;
  const paid = (node) => players.map((name, k) => `${name} ${text(worthOf(node, k))}`).join(", ");

  function mark(node) {
    const isChance = set[node] === CHANCE;
    const name = isChance ? "chance" : players[ownerOf(node)];
    const made = make("span", { class: isChance ? "mover chance" : "mover", title: name }, isChance ? "\u00A0" : `${ownerOf(node) + 1}`);
    if (!isChance) made.style.setProperty("--own", `var(--p${ownerOf(node) % 6})`);
    return made;
  }

  // -- the outline -------------------------------------------------------------------------------

  function lineOf(node) {
    const known = set[node] === END ? `(${tree.payoffs[place[node]].map(text).join(", ")})` : "";
    const parts = [make("b", {}, moveOf(node)), make("small", {}, text(shareOf(node)))];
    if (known) parts.push(make("span", {}, known));
    else parts.push(mark(node), make("span", {}, set[node] >= 0 ? tree.labels[set[node]] : "chance"));
    if (own) parts.push(make("small", { title: "probability that play gets here" }, `reach ${text(own.reach[node])}`));
    if (!known && !counts[node]) parts.push(make("small", {}, "… left out"));
    const tab = node === chosen ? 0 : -1;
    const line = make(
      "li",
      { role: "treeitem", "data-node": node, ...(counts[node] ? { "aria-expanded": "false" } : { class: "leaf" }) },
      make("button", { type: "button", class: "fold", tabindex: -1, "aria-label": "open or close" }),
      make("button", { type: "button", class: "pick", tabindex: tab }, ...parts),
    );
    if (set[node] >= 0) line.style.setProperty("--own", `var(--p${ownerOf(node) % 6})`);
    line.classList.toggle("pale", reach(node) < PALE);
    lines.set(node, line);
    looks(node);
    return line;
  }

  function looks(node) {
    const line = lines.get(node);
    line?.classList.toggle("chosen", node === chosen);
    line?.classList.toggle("same", set[node] >= 0 && set[node] === set[chosen]);
    line?.querySelector(".pick").setAttribute("tabindex", node === chosen ? 0 : -1);
  }

  function open(node) {
    const line = lines.get(node);
    if (!counts[node] || line.lastChild.matches("ul")) return;
    line.setAttribute("aria-expanded", "true");
    const list = make("ul", { role: "group" });
    line.append(list);
    more(list, childrenOf(node));
  }

  function more(list, nodes) {
    list.append(...nodes.slice(0, MOST_ROWS).map(lineOf));
    const rest = nodes.slice(MOST_ROWS);
    if (!rest.length) return;
    const onclick = ({ target }) => {
      target.parentNode.remove();
      more(list, rest);
    };
    list.append(make("li", {}, make("button", { type: "button", class: "rest", onclick }, `${rest.length} more`)));
  }

  function close(node) {
    const list = lines.get(node).querySelector(":scope > ul");
    if (!list) return;
    for (const line of list.querySelectorAll("[data-node]")) lines.delete(Number(line.dataset.node));
    list.remove();
    lines.get(node).setAttribute("aria-expanded", "false");
    if (!lines.has(chosen)) choose(node);
  }

  // Open all nodes on the way to one, and what stands behind "more".
  function bring(node) {
    if (!lines.has(node)) {
      bring(parent[node]);
      open(parent[node]);
      const list = lines.get(parent[node]).lastChild;
      while (!lines.has(node)) list.lastChild.querySelector(".rest").click();
    }
  }

  function choose(node) {
    bring(node);
    chosen = node;
    for (const known of lines.keys()) looks(known);
    const [pick, box] = [lines.get(node).querySelector(".pick"), outline].map((part) => part.getBoundingClientRect());
    outline.scrollTop += Math.min(pick.top - box.top - 8, 0) + Math.max(pick.bottom - box.bottom + 24, 0);
    const left = pick.left - box.left;
    if (left < 40 || left > 0.3 * box.width) outline.scrollLeft += left - 60;
    panel.replaceChildren(...facts(node));
  }

  function likely() {
    let node = chosen;
    while (counts[node])
      node = childrenOf(node).reduce((best, k) => (valueOf(shareOf(k)) > valueOf(shareOf(best)) ? k : best));
    choose(node);
  }

  function openPlayed() {
    const waiting = [0];
    for (let k = 0; k < waiting.length && lines.size < MOST_OPENED; k++)
      if (reach(waiting[k]) >= PALE) {
        bring(waiting[k]);
        open(waiting[k]);
        waiting.push(...childrenOf(waiting[k]).filter((child) => lines.has(child)));
      }
  }

  // -- what is known of a node -------------------------------------------------------------------

  function facts(node) {
    const way = [];
    for (let at = node; at >= 0; at = parent[at]) way.unshift(at);
    const onclick = (at) => () => choose(at);
    const path = way.map((at) => make("button", { type: "button", onclick: onclick(at) }, moveOf(at)));
    const above = tree.above.length > 1 ? `${tree.above.slice(0, -1).join(" \u203A ")} \u203A ` : "";
    const parts = [make("p", { class: "path" }, above, ...path)];
    if (set[node] >= 0) parts.push(make("h4", {}, mark(node), ` ${players[ownerOf(node)]} at ${tree.labels[set[node]] || '""'}`));
    else parts.push(make("h4", {}, set[node] === CHANCE ? "chance" : "end"));
    if (own) parts.push(make("p", {}, `reached with probability ${text(own.reach[node])}`));
    if (own || set[node] === END) parts.push(make("p", {}, `payoffs from here on: ${paid(node)}`));
    return set[node] < 0 ? parts : [...parts, moves(node), ...others(node)];
  }

  function moves(node) {
    const one = set[node];
    const rows = tree.actions[one].map((action, k) => {
      if (!own) return make("tr", {}, ...cells("td", action));
      const at = start[one] + k;
      const share = valueOf(own.shares[at]);
      const bar = make("span", { class: "share" });
      bar.style.width = `${100 * share}%`;
      bar.style.setProperty("--own", `var(--p${ownerOf(node) % 6})`);
      const here = counts[node] ? text(worthOf(first[node] + k, ownerOf(node))) : "";
      const figures = [here, ...[own.values[at], own.gains[at]].map((figure) => (figure === null ? "?" : text(figure)))];
      return make("tr", { class: share < PALE ? "pale" : "" }, make("td", {}, action, bar), ...cells("td", text(own.shares[at]), ...figures));
    });
    const heads = own ? ["action", "frequency", "here", "value", "gain"] : ["action"];
    return make("table", {}, make("thead", {}, make("tr", {}, ...cells("th", ...heads))), make("tbody", {}, ...rows));
  }

  function others(node) {
    const nodes = within(set[node]);
    const size = tree.sizes[set[node]];
    const kind = !own ? "" : valueOf(own.others[set[node]]) > 0 ? "forced by how others play" : own.belief[decided[node]] === null ? "free, and none is known" : "free; the one that supports best what is played";
    const about = own ? `: reached with probability ${text(own.sets[set[node]])}, by chance and others alone ${text(own.others[set[node]])}. Belief: ${kind}` : "";
    const rows = nodes.slice(0, MOST_ROWS).map((other) => {
      const way = [];
      for (let at = other; at > 0; at = parent[at]) way.unshift(moveOf(at));
      const belief = own ? own.belief[decided[other]] : null;
      const press = () => choose(other);
      const onkeydown = ({ key }) => key === "Enter" && press();
      return make("tr", { tabindex: 0, onclick: press, onkeydown }, ...cells("td", way.join(" \u203A ") || "start", belief === null ? "" : text(belief)));
    });
    const left = size - rows.length ? `; ${size - rows.length} of them not here` : "";
    const heads = make("thead", {}, make("tr", {}, ...cells("th", "history", own ? "belief" : "")));
    const table = make("table", {}, heads, make("tbody", {}, ...rows));
    const nouns = size === 1 ? "node" : "nodes";
    return [make("p", {}, `Information set of ${size} ${nouns}${left}${about}.`), make("div", { class: "within" }, table)];
  }

  // -- start -------------------------------------------------------------------------------------

  function caption() {
    const cap = own ? `${own.title ? `${own.title}: ` : ""}payoffs ${players.map((name, k) => `${name} ${text(own.payoffs[k])}`).join(", ")}; max regret ${text(own.max_regret[0])}` : "";
    figure.querySelector("figcaption > span").textContent = cap;
  }

  function reset() {
    const opened = [...lines].filter(([, line]) => line.lastChild.matches("ul")).map(([node]) => node);
    lines.clear();
    outline.replaceChildren(lineOf(0));
    for (const node of opened.length ? opened : [0]) {
      bring(node);
      open(node);
    }
    choose(chosen);
    caption();
  }

  outline.addEventListener("click", ({ target }) => {
    const line = target.closest("[data-node]");
    if (!line || target.matches(".rest")) return;
    const node = Number(line.dataset.node);
    if (target.matches(".fold") && line.lastChild.matches("ul")) close(node);
    else {
      open(node);
      if (!target.matches(".fold")) choose(node);
    }
  });
  outline.addEventListener("keydown", (event) => {
    const picks = [...outline.querySelectorAll(".pick")];
    const at = picks.indexOf(lines.get(chosen).querySelector(".pick"));
    const isOpen = lines.get(chosen).lastChild.matches("ul");
    const next = {
      ArrowDown: () => picks[at + 1],
      ArrowUp: () => picks[at - 1],
      ArrowRight: () => (isOpen ? picks[at + 1] : open(chosen)),
      ArrowLeft: () => (isOpen ? close(chosen) : lines.get(parent[chosen])?.querySelector(".pick")),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    const pick = next();
    if (pick) choose(Number(pick.parentNode.dataset.node));
    lines.get(chosen).querySelector(".pick").focus();
  });
  const options = profiles.map(({ title }, value) => make("option", { value }, title));
  const oninput = ({ target }) => {
    own = profiles[target.value];
    reset();
  };
  const buttons = [["follow the likeliest play", likely], ["open what is played", openPlayed], ["close all", () => close(0)]];
  figure.querySelector(".filters").append(
    ...(options.length > 1 ? [make("select", { "aria-label": "profile", oninput }, ...options)] : []),
    ...buttons.slice(own ? 0 : 2).map(([name, onclick]) => make("button", { type: "button", onclick }, name)),
  );
  reset();
}

for (const figure of document.querySelectorAll("[data-tree]")) startTree(figure);
}
