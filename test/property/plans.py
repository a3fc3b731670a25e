#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Random plans of small graphs, each compared with the f64 reference, until every form and every path of every region was taken.

    plans.py [--seed N] [--walked M] [--plans K] [--only GRAPH] [--keep FOLDER] [--verbose]

build/bin has to be on the PATH. A plan is a form for each site and a path for each region; `tenon paths --check` compiles and compares it. Paths for instructions
that this machine lacks are named at the end: none of its plans has them.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import cases
import onnx
from onnx import TensorProto
from programs import EXIT_UNSUPPORTED, call

# Graphs are drawn from these in turn. Two or three cases of a batch make one: they share an opset.
FAMILIES = (
    "tiles",
    "rounded",
    "fixed",
    "contract",
    "quantised",
    "layers",
    "siblings",
    "layouts",
    "groups",
    "chains",
    "int8",
    "rounded_attention",
    "longsums",
    "fusion",
)
CASES_OF_GRAPH = 3
# Each combination of forms has plans of its own: sites of one case are enough.
WITH_FORMS = ("siblings", "chains", "rounded_attention", "longsums", "fusion", "layouts")
# Larger than the error of any path, so that none is left out.
TOLERANCE = 0.5
# Chains are of products that nothing rounds.
EXACT = {"chains": 1e-5}
# An estimate is an error at random inputs, relative to the largest result of its operation; what follows, such as a Tanh of large numbers,
# makes more of it. Wrong results are off by about 1.
SLACK, MOST, ROUNDOFF = 64, 0.25, 2e-4
# Where the model itself rounds to 16 bits, the reference does not.
HALVES = {TensorProto.FLOAT16: 2e-3, TensorProto.BFLOAT16: 1.6e-2}
# Draws of plans of a graph at most, until each path of each region was taken: random ones may leave one out.
MOST_DRAWS = 10
# Graphs at most: a processor with few instructions has fewer plans of each.
MOST_GRAPHS = 200
# Fixed-point weights pay where a matrix does not fit the caches, which are small on no processor of today.
SMALL_CACHES = {"fixed": ["--l2-cache", "80K", "--llc", "128K"]}
# What f64 rounds down may be a tie in f32.
TIES = 3
# Every processor with AVX2 has these.
PORTABLE = {"direct", "winograd-2", "winograd-4", "winograd-6", "panels", "plain", "fixed8", "fixed10", "fixed12", "fixed16", "fixed20", "fixed24"}
PORTABLE |= {"separate_products", "merged_products", "split_attention", "fused_attention", "split_keys", "products_ab_c", "products_a_bc", "products_b_ac", "whole_reduction", "split_reduction", "separate_nests", "chained_nests"}
PORTABLE |= {"channels_last", "channels_first"}
PORTABLE |= {"fused_producer", "materialized_producer", "stored_once", "recomputed_per_consumer"}


def listPaths():
    """All paths that there are, which the message about one that is none lists."""
    code, text = call("tenon", "paths", "none.onnx", "--exclude", "none")
    names = re.search(r"the paths are (.*)", text)
    if code != 2 or not names:
        sys.exit(f"plans.py: tenon does not list its paths: {text}")
    return set(names[1].split(", "))


def listTypes(model):
    """Of the values and constants that the model has."""
    infos = [*model.graph.input, *model.graph.output]
    casts = [attribute.i for node in model.graph.node for attribute in node.attribute if node.op_type == "Cast" and attribute.name == "to"]
    return {*(info.type.tensor_type.elem_type for info in infos), *(constant.data_type for constant in model.graph.initializer), *casts}


def withoutChoices(options):
    """Options of a family but for those that plans take the place of."""
    others = [option for option, before in zip(options, ["", *options]) if not {"--tolerance", "--force", "--exclude"} & {option, before}]
    return [option for option in others if option != "--no-measure-error"]


class Graph:
    def __init__(self, seed, number, folder):
        self.number, self.family = number, FAMILIES[number % len(FAMILIES)]
        first = number // len(FAMILIES) * cases.BATCH
        members = [cases.Case(seed, self.family, first + i) for i in range(1 if self.family in WITH_FORMS else CASES_OF_GRAPH)]
        self.model, self.options = folder / f"graph-{number}.onnx", withoutChoices(members[0].options) + SMALL_CACHES.get(self.family, [])
        model = cases.joinModel([case.takes[0] for case in members], members[0].opset)
        onnx.save(model, self.model)
        self.roundoff = ROUNDOFF + max(HALVES.get(dtype, 0) for dtype in listTypes(model))
        self.what = f"graph {number} ({'; '.join(case.describe() for case in members)})"

    def check(self, seed, plans):
        """What `tenon paths` says of so many plans, or all if there are fewer; None where the graph is not supported."""
        listed = self.call("--first", 1)
        # Some are drawn twice.
        return listed and self.call("--random", min(plans, 2 * int(listed["count"])), "--seed", seed, "--check")

    def call(self, *arguments):
        command = ["tenon", "paths", self.model, "--tolerance", EXACT.get(self.family, TOLERANCE), "--json", *arguments, *self.options]
        result = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if result.returncode == EXIT_UNSUPPORTED:
            return None
        if result.returncode != 0:
            sys.exit(f"FAIL {self.what}: exit code {result.returncode}: {result.stdout.strip()} {result.stderr.strip()}")
        return json.loads(result.stdout)

    def findFault(self, plan):
        """Why a plan's results are wrong; None where they are not."""
        allowed = min(SLACK * plan["estimated_error"], MOST) + self.roundoff
        if plan["error"] is not None and not plan["error"] <= allowed:
            return f"is off by {plan['error']:.1e}, expected {plan['estimated_error']:.1e}"
        if plan["estimated_error"] == 0 and plan["error"] is None and plan["differing"] > TIES:
            return f"has {plan['differing']} integers that differ"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--walked", type=int, default=500, help="different plans, of all graphs together")
    parser.add_argument("--plans", type=int, default=20, help="of one graph, at most")
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    walked, wanted, taken, faults = set(), set(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {"TENON_CACHE_DIR": str(folder / "cache"), "TENON_PROFILES": "none"}
        for number in range(MOST_GRAPHS) if arguments.only is None else [arguments.only]:
            if len(walked) >= arguments.walked and wanted >= PORTABLE:
                break
            graph = Graph(arguments.seed, number, folder)
            own = None
            for draw in range(MOST_DRAWS):
                result = graph.check(arguments.seed + draw, arguments.plans) if draw == 0 or own else None
                if result is None:
                    break
                if own is None:
                    own = {(region["region"], path["path"]) for region in result["regions"] for path in region["paths"]}
                wanted |= {path["path"] for region in result["regions"] for path in region["paths"]}
                for plan in result["plans"]:
                    walked.add((number, *plan["paths"].values()))
                    own -= {*plan["paths"].items()}
                    taken.update(plan["paths"].values())
                    if fault := graph.findFault(plan):
                        faults += 1
                        print(f"FAIL {graph.what}, plan {plan['plan']} {fault}:\n  {plan['command']}")
                    elif arguments.verbose:
                        print(f"{graph.family} {plan['plan']}: {plan['estimated_error']:.1e} {plan['error'] or 0:.1e}")
            if own:
                faults += 1
                print(f"FAIL {graph.what}: no plan has {own}")
    print(f"{len(walked)} plans of {len({graph for graph, *_ in walked})} graphs: {faults} wrong")
    print("paths:", ", ".join(f"{path} {count}" for path, count in sorted(taken.items())))
    print("without a plan on this machine:", ", ".join(sorted(listPaths() - wanted)) or "none")
    if arguments.only is None and (missing := PORTABLE - {*taken}):
        faults += 1
        print("FAIL: no graph has a region for", ", ".join(sorted(missing)))
    if arguments.only is None and len(walked) < arguments.walked:
        faults += 1
        print(f"FAIL: fewer than {arguments.walked} plans")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
