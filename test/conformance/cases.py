# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Finds test cases: folders with a model, test_data_set_N folders and perhaps data.json; or Hugging Face folders."""

import dataclasses
import json
import os
import pathlib

import huggingface
import newest_data
import onnx_data
import wire

# ONNX's own default, for a case that says nothing.
DEFAULT_RTOL, DEFAULT_ATOL = 1e-3, 1e-7
# Two units in the last place, where they are largest: both a result and the reference, which is computed in the same type, are rounded.
# bfloat16 has 8 bits of precision, float16 has 11.
NARROW_RTOL = {wire.BFLOAT16: 2.0**-6, wire.FLOAT16: 2.0**-9}


@dataclasses.dataclass
class Case:
    name: str  # set/case, as the lists of passing cases have it
    folder: pathlib.Path
    path: pathlib.Path  # the model
    model: wire.Model  # none where it is no ONNX model
    data_sets: list
    rtol: float
    atol: float
    operator: str = ""
    tolerance: str = ""  # what the model is compiled with, where f32 itself is off by more than the default (tolerances.txt)


def _operatorOf(name, model):
    """What the case is about: its only operator, or the one its name begins with, or the first."""
    operators = list(dict.fromkeys(model.operators)) or ["(empty)"]
    spelled = name.removeprefix("test_").replace("_", "").lower()
    named = [op for op in operators if spelled.startswith(op.rpartition(".")[2].lower())]
    return max(named, key=len) if named else operators[0]


def _readTolerances():
    lines = (line.split("#")[0].split() for line in (pathlib.Path(__file__).parent / "tolerances.txt").read_text().splitlines())
    return {line[0]: line[1] for line in lines if line}


def load(kind, folder):
    """The case in `folder`, or None where there is no model or no data set."""
    if huggingface.isFolder(folder):
        model, data_sets, rtol, atol = huggingface.load(folder)
        return Case(f"{kind}/{folder.name}", folder, model, None, data_sets, rtol, atol, "(whole models)")
    path = folder / "model.onnx"
    if not path.is_file():
        models = sorted(folder.glob("*.onnx"))
        if len(models) != 1:
            return None
        path = models[0]
    data_sets = sorted(folder.glob("test_data_set_*"), key=lambda p: int(p.name.rpartition("_")[2]))
    if not data_sets:
        return None
    about = {}
    if (folder / "data.json").is_file():
        about = json.loads((folder / "data.json").read_text())
    model = wire.Model(path)
    operator = "(whole models)" if kind in ("models", "shared", "light") else _operatorOf(folder.name, model)
    rtol, atol = about.get("rtol", DEFAULT_RTOL), about.get("atol", DEFAULT_ATOL)
    rtol = max([rtol, *(NARROW_RTOL.get(output.dtype, 0) for output in model.outputs)])
    tolerance = _readTolerances().get(f"{kind}/{folder.name}", "")
    return Case(f"{kind}/{folder.name}", folder, path, model, data_sets, rtol, atol, operator, tolerance)


def _nameExpanded(cases):
    """A case `x_expanded` spells the operator of case `x` out as other operators: it counts with `x`."""
    byName = {case.name: case for case in cases}
    for case in cases:
        whole = byName.get(case.name.partition("_expanded")[0])
        if whole and whole is not case:
            case.operator = whole.operator


def sharedModels(root):
    """Further models beside the checkout, where somebody put them: $TENON_SHARED or ../shared."""
    return pathlib.Path(os.environ.get("TENON_SHARED") or root.parent / "shared") / "models"


def find(root, sets):
    """All cases of the named sets, sorted by name, and a list of messages about what is not there."""
    cases, messages = [], []

    def scan(kind, folder, skipped=frozenset()):
        for entry in sorted(folder.iterdir()):
            if entry.name in skipped:
                continue
            try:
                case = load(kind, entry) if entry.is_dir() else None
            except huggingface.Missing as error:
                messages.append(f"skipped {kind}/{entry.name}: {error}")
                continue
            if case:
                cases.append(case)

    for kind in sets:
        if kind == "models":
            scan("models", root / "models")
            shared = sharedModels(root)
            if shared.is_dir():
                scan("shared", shared)
            else:
                messages.append(f"skipped the shared models: there is no {shared} (TENON_SHARED names another folder)")
        elif kind in (newest_data.SET, newest_data.CHANGED):
            folder = newest_data.prepare(onnx_data.depsFolder(root), onnx_data.prepare(root) / "node")
            isChanged = kind == newest_data.CHANGED
            scan(newest_data.SET, folder / newest_data.SET, newest_data.readRepeated(folder) if isChanged else frozenset())
        else:
            scan(kind, onnx_data.prepare(root) / kind)
    _nameExpanded(cases)
    return sorted(cases, key=lambda case: case.name), messages
