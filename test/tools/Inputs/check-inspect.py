# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Checks that what `tenon inspect --json` printed holds together; reads standard input."""

import json
import sys

data = json.load(sys.stdin)
assert data["format_version"] == 4 and data["model"] == "digits.onnx", data
assert [output["dims"] for output in data["outputs"]] == [[1, 10]]
assert [section["kind"] for section in data["sections"]] == ["plan", "plan", "code", "code", "meta", "weights", "hashes"]
assert [target["name"] for target in data["targets"]] == ["x86-64-v3", "aarch64"]
assert data["meta"]["targets"]["aarch64"]["vector_bytes"] == 16
buffers, count = data["buffers"], len(data["instructions"])
for instruction in data["instructions"]:
    assert all(index < len(buffers) for index in instruction["buffers"])
activations = [buffer for buffer in buffers if buffer["storage"] == "arena"]
assert activations
for a in activations:
    assert a["offset"] + a["bytes"] <= data["arena_bytes"]
    assert 0 <= a["live_range"][0] <= a["live_range"][1] < count
    # Two that live at the same time share no byte.
    for b in activations:
        together = a["live_range"][0] <= b["live_range"][1] and b["live_range"][0] <= a["live_range"][1]
        apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
        assert a is b or a["offset"] == b["offset"] or apart or not together, (a, b)
paths = [k["paths"] for k in data["kernels"] if k["paths"]]
assert paths and all(path["path"] in path["cycles"] for path in paths), paths
assert sum(k["launches"] for k in data["kernels"]) == sum(i["operation"] == "launch" for i in data["instructions"])
