# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Whether what `tenon paths --json` prints on standard input is of so many plans, and sound."""

import json
import sys

isChecked = sys.argv[1] == "--checked"
document = json.load(sys.stdin)
assert int(document["count"]) == int(sys.argv[-1]), document["count"]
paths = {region["region"]: {path["path"] for path in region["paths"]} for region in document["regions"]}
count = 1
for region in document["regions"]:
    count *= len(region["paths"])
    assert sum(path["default"] for path in region["paths"]) == 1, region
    assert len(region["nodes"]) >= region["operations"], region
assert count == int(document["count"]), count
estimates = [plan["estimate"] for plan in document["plans"]]
assert isChecked or estimates == sorted(estimates), estimates
for plan in document["plans"]:
    assert all(plan["paths"][region] in names for region, names in paths.items()), plan
    assert not isChecked or plan["error"] < 1e-4, plan
if isChecked:
    taken = {region: {plan["paths"][region] for plan in document["plans"]} for region in paths}
    assert taken == paths, "the first random plans have each path"
