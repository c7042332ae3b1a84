"use strict";
// -- tables ------------------------------------------------------------------------------------

const valueOf = (cell) =>
  cell.hasAttribute("data-none") ? null : (cell.dataset.value ?? cell.textContent);

// What has no value stands last in either direction.
function compare(a, b, numeric, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
}

function sortBy(head) {
  const table = head.closest("table");
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const numeric = head.classList.contains("number");
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row.cells[head.cellIndex]), row]);
  rows.sort(([a], [b]) => compare(a, b, numeric, sign));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function filterRows(card) {
  const words = card.querySelector("input[type=search]").value.toLowerCase().split(/\s+/);
  const lists = [...card.querySelectorAll("select")].filter((list) => list.selectedIndex > 0);
  const rows = [...card.querySelector("tbody").rows];
  for (const row of rows) {
    const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
    row.hidden =
      !words.every((word) => text.includes(word)) ||
      !lists.every((list) => row.cells[list.dataset.column].textContent === list.value);
  }
  const shown = rows.filter((row) => !row.hidden).length;
  const total = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
  card.querySelector("output").textContent =
    shown === rows.length ? total : `${shown} of ${total}`;
}

function csv(table) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  // a spreadsheet would compute a name such as =A1
  const inert = (text) => (/^\s*[=+\-@]/.test(text) && isNaN(text) ? `'${text}` : text);
  const line = (texts) => texts.map(inert).map(quoted).join(",") + "\r\n";
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return (
    line([...table.tHead.rows[0].cells].map((cell) => cell.dataset.name ?? cell.textContent)) +
    rows.map((row) => line([...row.cells].map((cell) => valueOf(cell) ?? ""))).join("")
  );
}

// -- downloads ---------------------------------------------------------------------------------

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function svgBlob(svg) {
  const copy = svg.cloneNode(true);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  for (const part of copy.querySelectorAll(".on")) part.classList.remove("on");
  return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
}

function savePng(svg, name) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => save(blob, name), "image/png");
  };
  image.src = URL.createObjectURL(svgBlob(svg));
}

const SAVE = {
  csv: (card) => save(new Blob([csv(card.querySelector("table"))], { type: "text/csv" }), `${card.id}.csv`),
  svg: (card) => save(svgBlob(card.querySelector("svg")), `${card.id}.svg`),
  png: (card) => savePng(card.querySelector("svg"), `${card.id}.png`),
};

// -- what belongs together in all figures ------------------------------------------------------

let chosen = null; // stays when the pointer leaves

function highlight(key) {
  document.body.classList.toggle("chosen", key !== null);
  for (const part of document.querySelectorAll("[data-key]"))
    part.classList.toggle("on", part.dataset.key === key);
}

function choose(key) {
  chosen = chosen === key ? null : key;
  for (const part of document.querySelectorAll(".key"))
    part.setAttribute("aria-pressed", String(part.dataset.key === chosen));
  highlight(chosen);
}

for (const key of document.querySelectorAll(".key")) {
  key.setAttribute("tabindex", "0");
  key.setAttribute("role", "button");
  key.setAttribute("aria-pressed", "false");
  key.addEventListener("pointerenter", () => highlight(key.dataset.key));
  key.addEventListener("pointerleave", () => highlight(chosen));
  key.addEventListener("click", () => choose(key.dataset.key));
  key.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(chosen);
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(key.dataset.key);
  });
}

for (const card of document.querySelectorAll(".card")) {
  for (const button of card.querySelectorAll("button[data-save]"))
    button.addEventListener("click", () => SAVE[button.dataset.save](card));
  for (const button of card.querySelectorAll("th button"))
    button.addEventListener("click", () => sortBy(button.closest("th")));
  for (const field of card.querySelectorAll(".filters > *"))
    field.addEventListener("input", () => filterRows(card));
  if (card.querySelector(".filters")) filterRows(card);
}
