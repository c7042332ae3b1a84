// The page: what is chosen goes to the worker, what comes back is shown as text or as a picture.
const $ = (id) => document.getElementById(id);
const image = (svg) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`; // runs no script
let worker, waiting, looked; // the answer that is waited for; the newest look at a game

function start() {
  waiting = undefined;
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.state) say(data.state);
    else if (waiting && data.id === waiting.id) waiting.resolve(data.answer);
  };
  worker.onerror = (event) => waiting?.resolve({ error: event.message || "the worker ended" });
}

function say(text, error = false) {
  $("state").textContent = text;
  $("state").classList.toggle("error", error);
}

// One request at a time: a newer one replaces the answer that is waited for.
let last = 0;
function ask(name, request) {
  const id = (last += 1);
  return new Promise((resolve) => {
    waiting = { id, resolve };
    worker.postMessage({ id, name, request });
  });
}

function game() {
  const name = $("game").value;
  if (!name) return { text: $("text").value };
  const moved = looked?.name === name && looked.parameter;
  return { game: name, parameter: moved ? { name: looked.parameter, value: $("slider").value } : null };
}

function busy(is) {
  $("stop").disabled = !is;
  $("solve").disabled = is || !$("method").value;
}

async function asked(state, name, request) {
  busy(true);
  say(state);
  const answer = await ask(name, request);
  busy(false);
  say(answer.error ?? "", "error" in answer);
  return answer.error === undefined ? answer : null;
}

function drawn(img, svg) {
  img.hidden = !svg;
  img.src = svg ? image(svg) : "";
}

function clear() {
  $("outcome").textContent = "";
  $("found").hidden = $("chosen").hidden = true;
}

// Another game: its size, parameter and tree, then its equilibria by the first method for it.
async function look() {
  const name = $("game").value;
  clear();
  looked = undefined;
  $("pasted").hidden = name !== "";
  $("moved").hidden = true;
  $("title").textContent = $("summary").textContent = "";
  $("method").replaceChildren();
  drawn($("tree"), null);
  $("undrawn").hidden = true;
  busy(false);
  if (!name && !$("text").value.trim()) return;
  const answer = await asked("reading the game …", "look", game());
  if (!answer) return;
  looked = { ...answer, name };
  $("title").textContent = answer.title;
  $("moved").hidden = answer.parameter === null || name === "";
  $("parameter").textContent = answer.parameter ?? "";
  $("slider").value = answer.value ?? 0;
  $("value").textContent = $("slider").value;
  $("method").replaceChildren(...answer.methods.map(([value]) => new Option(value)));
  drawn($("tree"), answer.tree);
  $("undrawn").hidden = answer.tree !== null;
  await solve();
}

async function solve() {
  if (!looked) return look();
  const method = $("method").value;
  $("summary").textContent = Object.fromEntries(looked.methods)[method] ?? "no method takes this game";
  clear();
  if (!method) return;
  const chosen = game();
  const answer = await asked(`${method} is solving …`, "solve", { ...chosen, method, seconds: $("seconds").value });
  if (!answer) return;
  const more = answer.more ? ` ${answer.more} more are not shown.` : "";
  $("title").textContent = answer.title;
  $("outcome").textContent = `${method}: ${answer.status}, ${answer.reason} (${answer.seconds.toFixed(2)} s).${more}`;
  const titles = ["what was found", ...answer.players.map((player) => `payoff of ${player}`), "max regret", "claim"];
  const head = document.createElement("tr");
  head.append(...titles.map((title) => cell("th", title)));
  $("found").tHead.replaceChildren(head);
  const rows = answer.found.map((found) => row(found, chosen));
  $("found").tBodies[0].replaceChildren(...rows);
  $("found").hidden = rows.length === 0;
  rows[0]?.click();
}

function cell(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function row(found, chosen) {
  const made = document.createElement("tr");
  const claim = found.refuted ? `${found.claim}, refuted: ${found.refuted}` : found.claim;
  made.append(...[found.words[0], ...found.payoffs, found.regret, claim].map((text) => cell("td", text)));
  made.tabIndex = 0;
  made.onkeydown = (event) => event.key === "Enter" && made.click();
  made.onclick = () => show(made, found, chosen);
  return made;
}

async function show(made, found, chosen) {
  for (const other of made.parentNode.rows) other.setAttribute("aria-selected", other === made);
  $("words").replaceChildren(...found.words.map((line) => cell("li", line)));
  $("save").href = `data:application/json,${encodeURIComponent(JSON.stringify(found.profile))}`;
  const answer = await asked("drawing …", "draw", { ...chosen, profile: found.profile });
  if (!answer) return;
  drawn($("played"), answer.played);
  drawn($("tree"), answer.tree);
  $("chosen").hidden = false;
}

async function begin() {
  start();
  const known = await asked("starting …", "catalog", {});
  if (!known) return;
  $("version").textContent = known.version;
  $("game").append(...known.games.map(([name, summary]) => new Option(`${name} – ${summary}`, name)));
  $("game").value = known.games[0][0];
  await look();
}

$("game").onchange = look;
$("text").onchange = look;
$("slider").oninput = () => ($("value").textContent = $("slider").value);
$("slider").onchange = solve;
$("method").onchange = solve;
$("asked").onsubmit = (event) => (event.preventDefault(), solve());
$("stop").onclick = async () => {
  worker.terminate();
  start();
  busy(true);
  const known = await asked("stopped; starting again …", "catalog", {});
  if (known) say("stopped");
};
begin();
