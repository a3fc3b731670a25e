//===- HtmlStyle.cpp - how the page about an artifact looks ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlStyle.h"

const char *const tenon::kHtmlStyle = R"css(
:root { color-scheme: light dark; --text: #1a1d21; --dim: #5c6570; --line: #d5dae0; --back: #fff; --panel: #f6f7f9;
  --own: #4c8dd6; --shared: #d9932f; --live: #b3261e; --edge: #fff; --label: #08111b; --link: #1f5fa8; --mark: #fff3c4; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --dim: #9aa4b0; --line: #363c44; --back: #16191d; --panel: #1e2227;
    --own: #4a86c9; --shared: #b97b23; --live: #ff8a80; --edge: #16191d; --label: #fff; --link: #86b8f0; --mark: #4a4223; } }
body { margin: 0 auto; padding: 1.25rem 1.5rem; max-width: 100rem; color: var(--text); background: var(--back);
  font: 15px/1.5 system-ui, sans-serif; }
@media (max-width: 40rem) { body { padding: 1rem .75rem; } }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
nav { font-size: .85rem; margin: 0 0 .35rem; }
nav a { margin-right: .6rem; white-space: nowrap; }
p { margin: .25rem 0 .5rem; overflow-wrap: anywhere; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code { overflow-wrap: anywhere; background: var(--panel); padding: .1rem .3rem; }
small, .axis, .legend, .note { color: var(--dim); font-size: .85rem; }
.sizes { border-left: 3px solid var(--shared); padding-left: .75rem; }
.first { display: grid; grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); gap: 0 2rem; align-items: start; }
.facts { columns: 2 30rem; column-gap: 2rem; margin-top: 1.5rem; }
.facts section { break-inside: avoid; padding-bottom: .75rem; }
.first h2 { margin-top: .75rem; }
.facts h2 { margin-top: 0; }
@media (max-width: 60rem) { .first { grid-template-columns: minmax(0, 1fr); } }
dl { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr); gap: .35rem .75rem; margin: .75rem 0; font-size: .9rem; }
dl.wide { grid-template-columns: 9rem minmax(0, 1fr); margin: 0; }
dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
details { color: var(--dim); font-size: .85rem; overflow-wrap: anywhere; }
summary { cursor: pointer; }
.table { overflow-x: auto; }
.long { max-height: 40rem; overflow-y: auto; border-bottom: 1px solid var(--line); }
.long th { position: sticky; top: 0; background: var(--back); }
table { border-collapse: collapse; font-size: .85rem; }
th { text-align: left; color: var(--dim); font-weight: 600; }
th, td { padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  max-width: 34rem; }
tr:target td { background: var(--mark); }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.w { min-width: 16rem; overflow-wrap: anywhere; }
td details { color: inherit; font-size: inherit; }
.name { white-space: nowrap; }
.map { overflow-x: auto; padding: 1.6rem 0 2.8rem 6rem; background: var(--panel); }
.area { position: relative; height: 28rem; margin-right: 1rem; border-left: 1px solid var(--dim);
  border-bottom: 1px solid var(--dim); border-top: 1px dotted var(--dim); }
.area svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.area rect { fill: var(--own); fill-opacity: .55; stroke: var(--edge); stroke-width: .5; vector-effect: non-scaling-stroke; }
.area rect.shared { fill: var(--shared); }
.area rect.peak { fill-opacity: .95; }
.area rect:hover { stroke: var(--text); stroke-width: 2; }
path, line { fill: none; vector-effect: non-scaling-stroke; pointer-events: none; }
.live { stroke: var(--live); stroke-width: 1.5; }
.bound { stroke: var(--live); stroke-width: 1; stroke-dasharray: 6 4; }
.at { stroke: var(--text); stroke-width: 1; stroke-dasharray: 2 3; }
.label { position: absolute; box-sizing: border-box; padding: 0 .3rem; font-size: .72rem; line-height: 1.3; color: var(--label);
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis; direction: rtl; text-align: left; pointer-events: none; }
.tick { position: absolute; font-size: .72rem; color: var(--dim); white-space: nowrap; pointer-events: none; }
.tick.y { right: 100%; transform: translateY(-50%); padding-right: .4rem; }
.tick.top { bottom: 100%; padding-bottom: .2rem; transform: translateX(-50%); color: var(--text); }
.tick.x { top: 100%; transform: translateX(-50%); padding-top: .2rem; }
.axis { position: absolute; font-size: .78rem; }
.axis.x { top: calc(100% + 1.3rem); left: 0; right: 0; text-align: center; }
.axis.y { top: 0; bottom: 0; right: calc(100% + 4.4rem); writing-mode: vertical-rl; transform: rotate(180deg); text-align: center; }
.legend span { white-space: nowrap; margin-right: .8rem; }
.legend i { display: inline-block; width: .9rem; height: .7rem; margin-right: .35rem; }
.legend .own { background: var(--own); opacity: .55; }
.legend .shared { background: var(--shared); opacity: .55; }
.legend .peak { opacity: 1; }
.legend .live, .legend .bound { height: 0; border-top: 2px solid var(--live); vertical-align: middle; }
.legend .bound { border-top-style: dashed; }
.graphs { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 1.5rem; }
@media (max-width: 60rem) { .graphs { grid-template-columns: minmax(0, 1fr); } }
.graphs h3 { margin-top: .5rem; }
.graph { background: var(--panel); }
.graph .tools { padding: .4rem; border-bottom: 1px solid var(--line); }
.tools:not([hidden]) { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
.tools input, .tools button { font: inherit; font-size: .85rem; color: var(--text); background: var(--back);
  border: 1px solid var(--line); border-radius: 3px; padding: .1rem .5rem; }
.tools input { width: 11rem; }
@media (max-width: 40rem) { .tools input { width: 8rem; } .tools:not([hidden]) { gap: .3rem; } }
.tools .found { color: var(--dim); font-size: .85rem; min-width: 3.5rem; }
.view { max-height: 38rem; overflow: auto; cursor: grab; }
.view.dragged { cursor: grabbing; }
.view svg { display: block; margin: 0 auto; }
.graph path { stroke: var(--dim); stroke-opacity: .5; stroke-width: 1; }
.graph path.near { stroke: var(--live); stroke-opacity: 1; stroke-width: 2; }
.node rect { fill: var(--own); fill-opacity: .1; stroke: var(--dim); stroke-width: 1; }
.node.end rect { fill: var(--shared); fill-opacity: .2; }
.node text { fill: var(--text); font: 11px ui-monospace, monospace; text-anchor: middle; }
.node { scroll-margin: 10rem; }
.node text.op { fill-opacity: .75; font-size: 10px; }
.node.faint rect { fill-opacity: 0; stroke-dasharray: 4 3; }
.node:hover rect, .node:focus rect { stroke: var(--text); stroke-width: 2; }
.node.hit rect { stroke: var(--live); stroke-width: 3; }
.node:target rect { fill: var(--mark); fill-opacity: 1; stroke: var(--text); stroke-width: 2; }
.far text { display: none; }
.plot { padding: .75rem 0 2.8rem 5rem; background: var(--panel); max-width: 60rem; }
.plot .area { height: 22rem; border-top: 0; }
.plot .axis.y { right: calc(100% + 3.4rem); }
.point { position: absolute; transform: translate(-50%, -50%); border-radius: 50%; background: var(--own); opacity: .75;
  border: 1px solid var(--edge); box-sizing: border-box; }
.point:hover { opacity: 1; border-color: var(--text); }
.pointname { position: absolute; font-size: .72rem; white-space: nowrap; pointer-events: none;
  max-width: 36%; overflow: hidden; text-overflow: ellipsis;
  text-shadow: 0 0 3px var(--panel), 0 0 3px var(--panel);
  transform: translate(var(--r), -50%); }
.pointname.before { transform: translate(calc(-100% - var(--r)), -50%); }
#code > details { padding: .15rem 0; border-bottom: 1px solid var(--line); }
#code h3 { margin: .75rem 0 .25rem; color: var(--text); }
pre { max-height: 30rem; overflow: auto; margin: 0; padding: .5rem .75rem; background: var(--panel); color: var(--text);
  font: 12px/1.45 ui-monospace, monospace; white-space: pre; overflow-wrap: normal; tab-size: 2; }
.bar { display: inline-block; height: .7rem; background: var(--own); vertical-align: middle; }
)css";
