# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Records that say what a model feels of its nodes' errors: make-sensitive.py PLANS.json NODE=ERROR... < a record of the model.

PLANS.json is what `tenon paths --json` prints."""

import json
import sys

record = next(record for record in map(json.loads, sys.stdin) if record["schedule"].startswith(("plan within ", "plan by ")))
regions = {region["nodes"][0]: region["region"] for region in json.load(open(sys.argv[1]))["regions"]}
for argument in sys.argv[2:]:
    node, error = argument.split("=")
    print(json.dumps(record | {"schedule": f"sensitivity to {regions[node]}=winograd-4", "error": float(error)}))
