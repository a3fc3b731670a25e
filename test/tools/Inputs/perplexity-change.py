# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Whether weights change a perplexity by some percent: perplexity-change.py LEAST MOST FILE.json."""

import json
import sys

least, most, file = sys.argv[1:]
with open(file) as content:
    compared = json.load(content)["compared"]
print(compared)
if not float(least) <= abs(compared["change_percent"]) < float(most):
    sys.exit(f"expected a change from {least} to {most} %")
