# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Makes of records of schedules that were measured alone (standard input) such that one with `changed` in it is twice as fast as the
policies', which a dump of kernels has; with `unknown`, one that no compiler has listed. Prints lines of JSON."""

import json
import pathlib
import re
import sys

changed, dump = sys.argv[1:]
policies = set(re.findall(r"#kernel\.schedule<[^>]*>", pathlib.Path(dump).read_text()))
alone = "alone "
regions = {}
for line in sys.stdin:
    record = json.loads(line)
    if record["schedule"].startswith(alone):
        regions.setdefault(record["region"], []).append(record)
count = 0
for records in regions.values():
    own = next((record for record in records if record["schedule"].removeprefix(alone) in policies), None)
    if not own:
        continue
    others = [record for record in records if changed in record["schedule"] and record is not own]
    if changed == "unknown":
        others = [dict(own, schedule=own["schedule"].replace("tile = [", "tile = [7, "))]
    for record, time in [(own, 2000.0), *((other, 1000.0) for other in others[:1])]:
        count += record is not own
        times = {"min_ns": time, "median_ns": time, "p95_ns": time, "spread": 0.0, "warm": True}
        print(json.dumps(dict(record, schedule=record["schedule"].removeprefix(alone), **times)))
sys.exit(0 if count else f"no schedule with '{changed}' was measured")
