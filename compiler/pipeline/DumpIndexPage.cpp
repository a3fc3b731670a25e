//===- DumpIndexPage.cpp - style and script of the page about dumps --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/DumpIndex.h"

const char *const tenon::kDumpIndexStyle = R"css(
:root { color-scheme: light dark; --text: #1a1d21; --dim: #5c6570; --line: #d5dae0; --back: #fff; --panel: #f6f7f9;
  --old: #fdecea; --new: #e8f5e9; --oldmark: #f5b5ae; --newmark: #a9dcb0; --here: #dbe9f8; --link: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --dim: #9aa4b0; --line: #363c44; --back: #16191d; --panel: #1e2227;
    --old: #3a2224; --new: #1d3425; --oldmark: #7d3a3c; --newmark: #2f6b42; --here: #24405e; --link: #86b8f0; } }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: grid; grid-template-columns: minmax(18rem, 27rem) minmax(0, 1fr); color: var(--text);
  background: var(--back); font: 14px/1.45 system-ui, sans-serif; }
@media (max-width: 50rem) { body { display: block; height: auto; } nav { max-height: 40vh; } }
nav { overflow: auto; background: var(--panel); border-right: 1px solid var(--line); }
nav header { position: sticky; top: 0; background: var(--panel); padding: .75rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.05rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
small { color: var(--dim); }
input[type=search] { width: 100%; margin-top: .5rem; padding: .25rem .5rem; font: inherit; }
table { border-collapse: collapse; width: 100%; }
nav td, nav th { padding: .15rem .5rem; text-align: left; vertical-align: top; font-size: .82rem; overflow-wrap: anywhere; }
nav tbody tr { cursor: pointer; }
nav tbody tr:hover, nav tbody tr:focus { background: var(--here); outline: none; }
nav tr.right { background: var(--here); box-shadow: inset 3px 0 var(--link); }
nav tr.left { box-shadow: inset 3px 0 var(--dim); }
.n { text-align: right !important; white-space: nowrap; font-variant-numeric: tabular-nums; }
main { overflow: auto; padding: .75rem; }
.pick { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: .75rem; }
select, button { font: inherit; max-width: 100%; }
.pick select { flex: 1 1 14rem; min-width: 0; }
.diff { table-layout: fixed; font: 12px/1.4 ui-monospace, monospace; }
.diff col.number { width: 3rem; }
.diff td { padding: 0 .4rem; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; }
.diff td.number { color: var(--dim); text-align: right; user-select: none; }
.diff .old { background: var(--old); } .diff .new { background: var(--new); }
.diff .old mark { background: var(--oldmark); color: inherit; } .diff .new mark { background: var(--newmark); color: inherit; }
.diff .fold td { text-align: center; color: var(--link); background: var(--panel); cursor: pointer; padding: .15rem; }
)css";

const char *const tenon::kDumpIndexScript = R"js(
"use strict";
const index = JSON.parse(document.getElementById("index").textContent), files = index.files, texts = new Map();
const state = { left: 0, right: 0 };

function make(tag, content, className) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const part of [].concat(content ?? []))
    element.append(part);
  return element;
}

const bytesText = (n) => n < 1000 ? n + " B" : n < 1e6 ? (n / 1e3).toFixed(1) + " kB" : (n / 1e6).toFixed(1) + " MB";
const msText = (ms) => ms === 0 ? "" : ms < 10 ? ms.toFixed(2) + " ms" : Math.round(ms) + " ms";

async function getLines(i) {
  if (texts.has(i)) return texts.get(i);
  const packed = Uint8Array.from(atob(document.getElementById("f" + i).textContent), (c) => c.charCodeAt(0));
  let stream = new Blob([packed]).stream();
  if (index.compressed) stream = stream.pipeThrough(new DecompressionStream("deflate"));
  const lines = (await new Response(stream).text()).replace(/\n$/, "").split("\n");
  texts.set(i, lines);
  return lines;
}

/* Pairs of equal lines [a, b] of two ranges. Lines that both ranges have once are anchors, of which the longest ascending
   chain is kept; between anchors the same again, and short ranges by the longest common subsequence. */
function match(a, b, a0, a1, b0, b1, pairs) {
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) pairs.push([a0++, b0++]);
  const tail = [];
  while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) tail.push([--a1, --b1]);
  if (a0 < a1 && b0 < b1) {
    const anchors = findAnchors(a, b, a0, a1, b0, b1);
    if (anchors.length > 0) {
      for (const [i, j] of [...anchors, [a1, b1]]) {
        match(a, b, a0, i, b0, j, pairs);
        if (i < a1) pairs.push([i, j]);
        a0 = i + 1;
        b0 = j + 1;
      }
    } else if ((a1 - a0) * (b1 - b0) <= 1e6) {
      matchShort(a, b, a0, a1, b0, b1, pairs);
    }
  }
  while (tail.length > 0) pairs.push(tail.pop());
}

function findAnchors(a, b, a0, a1, b0, b1) {
  const seen = new Map();
  for (let i = a0; i < a1; ++i) seen.set(a[i], seen.has(a[i]) ? null : { i, j: -1, times: 0 });
  for (let j = b0; j < b1; ++j) {
    const line = seen.get(b[j]);
    if (line) { line.j = j; ++line.times; }
  }
  const chains = []; /* of each length, the one that ends first in b */
  for (const line of seen.values()) {
    if (!line || line.times !== 1) continue;
    let low = 0, high = chains.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (chains[middle].j < line.j) low = middle + 1; else high = middle;
    }
    line.before = low > 0 ? chains[low - 1] : null;
    chains[low] = line;
  }
  const anchors = [];
  for (let line = chains[chains.length - 1]; line; line = line.before) anchors.push([line.i, line.j]);
  return anchors.reverse();
}

function matchShort(a, b, a0, a1, b0, b1, pairs) {
  const width = b1 - b0 + 1, longest = new Int32Array((a1 - a0 + 1) * width);
  for (let i = a1 - 1; i >= a0; --i)
    for (let j = b1 - 1; j >= b0; --j) {
      const at = (i - a0) * width + j - b0;
      longest[at] = a[i] === b[j] ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  for (let i = a0, j = b0; i < a1 && j < b1;) {
    const at = (i - a0) * width + j - b0;
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (longest[at + width] >= longest[at + 1]) ++i;
    else ++j;
  }
}

/* What of a line counts: not the indentation, which regions change of all that they hold, and on demand not the numbers
   that tell values of one name apart, which an operation more or less changes in all lines that follow. */
function getKey(line) {
  line = line.trim();
  return numbers.checked ? line.replace(/(%[A-Za-z_][\w.$-]*?)_\d+(?![\w.])/g, "$1").replace(/%\d+/g, "%") : line;
}

/* Rows of the picture: [line of a, line of b, whether they differ]; either line may be -1. */
function getRows(a, b) {
  const pairs = [], rows = [];
  match(a.map(getKey), b.map(getKey), 0, a.length, 0, b.length, pairs);
  let i = 0, j = 0;
  for (const [x, y] of [...pairs, [a.length, b.length]]) {
    while (i < x || j < y) rows.push([i < x ? i++ : -1, j < y ? j++ : -1, true]);
    if (x < a.length) rows.push([i++, j++, false]);
  }
  return rows;
}

/* The text of a changed line; what differs from the other side is marked. */
function mark(text, other) {
  let begin = 0, end = 0;
  const most = Math.min(text.length, other.length);
  while (begin < most && text[begin] === other[begin]) ++begin;
  while (end < most - begin && text[text.length - 1 - end] === other[other.length - 1 - end]) ++end;
  /* Of lines that have little in common the difference is all of it. */
  if (begin + end < text.length / 4) return [text];
  return [text.slice(0, begin), make("mark", text.slice(begin, text.length - end)), text.slice(text.length - end)];
}

function makeRow(row, a, b) {
  const [i, j, changed] = row, both = i >= 0 && j >= 0;
  const cell = (lines, at, otherLines, otherAt, className) =>
    [make("td", at >= 0 ? String(at + 1) : "", "number"),
     make("td", at < 0 ? "" : changed && both ? mark(lines[at], otherLines[otherAt]) : lines[at], changed && at >= 0 ? className : "")];
  return make("tr", [...cell(a, i, b, j, "old"), ...cell(b, j, a, i, "new")]);
}

/* Equal lines far from a change are folded. */
function makeFold(rows, a, b) {
  const element = make("tr", [Object.assign(make("td", rows.length + " equal lines"), { colSpan: 4 })], "fold");
  element.onclick = () => element.replaceWith(...rows.map((row) => makeRow(row, a, b)));
  return element;
}

function makeDiff(a, b) {
  const context = 3, rows = getRows(a, b), near = new Uint8Array(rows.length), body = make("tbody");
  rows.forEach((row, at) => { if (row[2]) near.fill(1, Math.max(0, at - context), at + context + 1); });
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && !near[end]) ++end;
    if (end - at > 1) { body.append(makeFold(rows.slice(at, end), a, b)); at = end; }
    else body.append(makeRow(rows[at], a, b)), ++at;
  }
  const columns = make("colgroup", ["number", "", "number", ""].map((name) => make("col", [], name)));
  return make("table", [columns, body], "diff");
}

function makePlain(lines) {
  const body = make("tbody", lines.map((line, i) => make("tr", [make("td", String(i + 1), "number"), make("td", line)])));
  return make("table", [make("colgroup", ["number", ""].map((name) => make("col", [], name))), body], "diff");
}

/* What the same function or kernel was before. */
function getBefore(i) {
  for (let k = i - 1; k >= 0; --k)
    if (files[k].scope === files[i].scope) return k;
  return Math.max(0, i - 1);
}

const title = (file, i) => i + " " + file.pass + " of " + file.scope;
const numbers = Object.assign(make("input"), { type: "checkbox", onchange: () => show(state.left, state.right) });
const list = make("tbody"), content = make("div"), summary = make("small");
const left = make("select", files.map(title).map((t) => make("option", t)));
const right = left.cloneNode(true);
left.setAttribute("aria-label", "left");
right.setAttribute("aria-label", "right");

async function show(a, b) {
  Object.assign(state, { left: a, right: b });
  left.selectedIndex = a;
  right.selectedIndex = b;
  history.replaceState(null, "", "#" + a + "-" + b);
  [...list.children].forEach((row, i) => { row.className = i === b ? "right" : i === a ? "left" : ""; });
  list.children[b]?.scrollIntoView({ block: "nearest" });
  const [before, after] = [await getLines(a), await getLines(b)];
  if (state.left !== a || state.right !== b) return;
  content.replaceChildren(a === b ? makePlain(after) : makeDiff(before, after));
  summary.textContent = a === b ? after.length + " lines" : content.querySelectorAll(".old").length + " lines of the left and " +
    content.querySelectorAll(".new").length + " of the right differ";
}

function step(by) {
  const rows = [...list.children];
  for (let i = state.right + by; i >= 0 && i < rows.length; i += by)
    if (!rows[i].hidden) return show(getBefore(i), i);
}

function makeList(search) {
  files.forEach((file, i) => {
    const row = make("tr", [make("td", String(i), "n"), make("td", [file.pass, make("br"), make("small", file.scope)]),
      make("td", bytesText(file.bytes), "n"), make("td", msText(file.ms), "n")]);
    row.tabIndex = 0;
    row.onclick = () => show(getBefore(i), i);
    row.onkeydown = (event) => { if (event.key === "Enter") row.onclick(); };
    list.append(row);
  });
  search.oninput = () => files.forEach((file, i) => {
    list.children[i].hidden = !title(file, i).toLowerCase().includes(search.value.toLowerCase());
  });
}

function start() {
  const total = files.reduce((sum, file) => sum + file.bytes, 0), search = make("input");
  search.type = "search";
  search.placeholder = "pass or kernel";
  search.setAttribute("aria-label", "filter by pass or kernel");
  makeList(search);
  const head = make("thead", make("tr", [make("th", "#", "n"), make("th", "after"), make("th", "size", "n"), make("th", "time", "n")]));
  document.body.append(
    make("nav", [make("header", [make("h1", "IR of " + index.model), make("small", files.length + " files, " + bytesText(total)), search]),
      make("table", [head, list])]),
    make("main", [make("div", [left, right, Object.assign(make("button", "previous"), { onclick: () => step(-1) }),
      Object.assign(make("button", "next"), { onclick: () => step(1) }),
      make("label", [numbers, " ignore numbers of values"]), summary], "pick"), content]));
  left.onchange = right.onchange = () => show(left.selectedIndex, right.selectedIndex);
  if (files.length === 0) return;
  const [, a, b] = /^#(\d+)-(\d+)$/.exec(location.hash) ?? [];
  show(...(a < files.length && b < files.length ? [+a, +b] : [0, 0]));
}
start();
)js";
