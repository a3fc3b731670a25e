# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Makes of exported records of plans those in which a plan of Winograd convolutions takes a share of the chosen one's time, with an error."""

import json
import sys

share, error = float(sys.argv[1]), float(sys.argv[2])
records = [json.loads(line) for line in sys.stdin]
chosen = next(record for record in records if record["schedule"].startswith("plan within "))
plan = next(record for record in records if record["schedule"].startswith("plan of ") and "winograd" in record["schedule"])
for figure in ("min_ns", "median_ns", "p95_ns"):
    plan[figure] = chosen[figure] * share
plan["error"] = error
for record in (chosen, plan):
    print(json.dumps(record))
