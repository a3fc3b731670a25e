# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Makes of exported records of plans those in which one takes a share of the chosen one's time, with an error.

    faster-plan.py SHARE ERROR [PATH]

The plan is the first one with a path, or a form, whose name has PATH in it, winograd where it is left out. For "by estimates" it is that of the
estimates, and the chosen one that of the records.
"""

import json
import sys

share, error, path = float(sys.argv[1]), float(sys.argv[2]), (sys.argv[3:] or ["winograd"])[0]
records = [json.loads(line) for line in sys.stdin]
kind = "plan by records " if path == "by estimates" else "plan within "
chosen = next(record for record in records if record["schedule"].startswith(kind))
plan = next(record for record in records if record["schedule"].startswith(("plan of ", "plan by estimates ")) and path in record["schedule"])
for figure in ("min_ns", "median_ns", "p95_ns"):
    plan[figure] = chosen[figure] * share
plan["error"] = error
for record in (chosen, plan):
    print(json.dumps(record))
