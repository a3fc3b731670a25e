# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Operators that ONNX has no cases for, against what ONNX Runtime computed once: record.py writes the file."""

import json
import os

from run import Case
from tensors import Tensor

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Inputs", "recorded.json")


def read(values):
    """Floats that JSON has no numbers for are strings."""
    return {name: Tensor(v["shape"], [float(x) if isinstance(x, str) else x for x in v["data"]], v["dtype"]) for name, v in values.items()}


def cases():
    with open(FILE) as file:
        entries = json.load(file)
    return [
        Case(
            e["name"],
            [(e["operator"], e["operands"], e["results"], e["attributes"])],
            read(e["inputs"]),
            read(e["outputs"]),
            read(e["constants"]),
            e["rtol"],
            e["atol"],
        )
        for e in entries
    ]
