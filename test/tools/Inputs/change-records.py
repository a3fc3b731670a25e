# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads records as `tenon profiles export` prints them, and prints them with one path as fast as can be: change-records.py PATH.

Records of kernels' schedules are left out: they are of the kernels of the path that was the fastest, and another path has others."""

import json
import sys

for line in sys.stdin:
    record = json.loads(line)
    if record["schedule"].startswith("#kernel.schedule"):
        continue
    scale = 1e-3 if record["schedule"] == sys.argv[1] else 1
    for figure in ("min_ns", "median_ns", "p95_ns"):
        record[figure] *= scale
    print(json.dumps(record))
