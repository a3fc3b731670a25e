# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads records as `tenon profiles export` prints them, and prints them with one schedule as fast as can be: change-records.py SCHEDULE."""

import json
import sys

for line in sys.stdin:
    record = json.loads(line)
    scale = 1e-3 if record["schedule"] == sys.argv[1] else 1
    for figure in ("min_ns", "median_ns", "p95_ns"):
        record[figure] *= scale
    print(json.dumps(record))
