# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Prints records as `tenon profiles export` does: of two regions, the first with two schedules. --slow: the second schedule is slower."""

import json
import sys

isSlow = "--slow" in sys.argv
record = {
    "region": "tenon.contract 64x64", "schedule": "panels", "compiler": "tenon 1", "cpu": "Some CPU", "features": "x86_64:avx2", "cores": 2,
    "l1_bytes": 32768, "l2_bytes": 1048576, "llc_bytes": 8388608, "os": "Linux", "governor": "", "threads": 2, "runs": 9, "min_ns": 900.0,
    "median_ns": 1000.0, "p95_ns": 1100.0, "spread": 0.05, "error": None, "error_reference": "", "warm": True, "time": 1700000000,
}
fast = record | {"schedule": "plain", "min_ns": 1.0, "median_ns": 2000.0 if isSlow else 500.0, "p95_ns": 3000.0, "error": 1e-6, "error_reference": "f64"}
other = record | {"region": "tenon.convolve", "schedule": "winograd-4", "median_ns": 950.0}
for each in (record, fast, other):
    print(json.dumps(each))
print(json.dumps(record | {"threads": 0}))
print("nonsense")
