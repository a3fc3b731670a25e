//===- HtmlScript.cpp - the script of the page about an artifact -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlScript.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

// The browser handles scrolling: zooming only changes the size of the SVG. Labels are hidden when they are too small to
// read, so that a browser draws thousands of nodes quickly.
const char *const tenon::kHtmlScript = R"js(
'use strict';
for (const graph of document.querySelectorAll('.graph')) {
  const view = graph.querySelector('.view'), svg = graph.querySelector('svg');
  const tools = graph.querySelector('.tools'), field = graph.querySelector('input');
  const found = graph.querySelector('.found'), [smaller, larger, fit] = graph.querySelectorAll('button');
  const width = svg.width.baseVal.value, height = svg.height.baseVal.value;
  const nodes = [...svg.querySelectorAll('.node')], paths = [...svg.querySelectorAll('path')];
  let scale = 1, hits = [], hit = 0;

  // Keeps the point of the picture at (x, y) of the view in place.
  function zoom(factor, x = view.clientWidth / 2, y = view.clientHeight / 2) {
    const next = Math.min(4, Math.max(Math.min(getFit(), 0.05), scale * factor)), ratio = next / scale;
    const left = (view.scrollLeft + x) * ratio - x, top = (view.scrollTop + y) * ratio - y;
    scale = next;
    svg.setAttribute('width', width * scale);
    svg.setAttribute('height', height * scale);
    svg.classList.toggle('far', scale < 0.45);
    view.scrollTo(left, top);
  }
  function getFit() { return Math.min(1, view.clientWidth / width, view.clientHeight / height); }
  function center(node) {
    const box = node.getBBox(), origin = svg.viewBox.baseVal;
    view.scrollTo((box.x + box.width / 2 - origin.x) * scale - view.clientWidth / 2,
                  (box.y + box.height / 2 - origin.y) * scale - view.clientHeight / 2);
  }
  function search() {
    const text = field.value.trim().toLowerCase();
    for (const node of hits) node.classList.remove('hit');
    hits = text ? nodes.filter(node => node.textContent.toLowerCase().includes(text)) : [];
    for (const node of hits) node.classList.add('hit');
    hit = 0;
    show();
  }
  function show() {
    found.textContent = hits.length ? `${hit + 1} of ${hits.length}` : field.value.trim() ? 'none' : '';
    if (!hits.length) return;
    if (scale < 0.45) zoom(0.8 / scale);
    center(hits[hit]);
  }
  function highlight(node, isOn) {
    const number = String(nodes.indexOf(node));
    for (const path of paths)
      if (path.dataset.from === number || path.dataset.to.split(' ').includes(number))
        path.classList.toggle('near', isOn);
  }

  tools.hidden = false;
  smaller.addEventListener('click', () => zoom(1 / 1.4));
  larger.addEventListener('click', () => zoom(1.4));
  fit.addEventListener('click', () => zoom(getFit() / scale));
  field.addEventListener('input', search);
  field.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || !hits.length) return;
    event.preventDefault();
    hit = (hit + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
    show();
  });
  view.addEventListener('keydown', event => {
    if (event.key === '+' || event.key === '=') zoom(1.4);
    if (event.key === '-') zoom(1 / 1.4);
  });
  view.addEventListener('wheel', event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = view.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  // A mouse drags; fingers scroll by themselves.
  view.addEventListener('pointerdown', event => {
    if (event.pointerType !== 'mouse' || event.button !== 0 || event.target.closest('.node')) return;
    event.preventDefault();
    view.focus({preventScroll: true});
    const move = next => view.scrollBy(-next.movementX, -next.movementY);
    const stop = () => { view.removeEventListener('pointermove', move); view.classList.remove('dragged'); };
    view.setPointerCapture(event.pointerId);
    view.classList.add('dragged');
    view.addEventListener('pointermove', move);
    view.addEventListener('pointerup', stop, {once: true});
    view.addEventListener('pointercancel', stop, {once: true});
  });
  for (const node of nodes) {
    node.addEventListener('pointerenter', () => highlight(node, true));
    node.addEventListener('pointerleave', () => highlight(node, false));
  }
  // Wide graphs start smaller, as long as labels are readable.
  zoom(Math.max(0.6, Math.min(1, view.clientWidth / width)));
  view.scrollTo((svg.clientWidth - view.clientWidth) / 2, 0);
}
// Links lead into what is folded.
function reveal() {
  const target = document.getElementById(location.hash.slice(1)), folded = target && target.closest('details');
  if (!folded) return;
  folded.open = true;
  folded.scrollIntoView();
}
addEventListener('hashchange', reveal);
reveal();
)js";

std::string tenon::getScriptHash() {
  llvm::StringRef script = kHtmlScript;
  std::array<uint8_t, 32> hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(script));
  return "'sha256-" + llvm::encodeBase64(hash) + "'";
}
