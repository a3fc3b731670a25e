# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Whether an artifact's weights have a share of another one's bytes: weight-bytes.py WHOLE PART LEAST MOST."""

import json
import subprocess
import sys


def count(artifact):
    shown = subprocess.run(["tenon", "inspect", artifact, "--json"], capture_output=True, check=True).stdout
    return json.loads(shown)["weight_bytes"]


whole, part, least, most = sys.argv[1:]
share = count(part) / count(whole)
if not float(least) <= share <= float(most):
    sys.exit(f"expected {least} to {most} of the bytes, found {share:.3f}: {count(part)} of {count(whole)}")
