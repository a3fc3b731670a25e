# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compiles one model for many small cases and compares what it computes with the reference.

    run.py FAMILY [--only CASE] [--keep FOLDER] [--target T]... [--runner "COMMAND WORDS"]

A family is a module in families/ with a function cases(), and OPSET where 21 will not do. All its cases become one model, which saves the time of
starting programs; where that one does not compile, each is compiled by itself, so that the report names the cases.
"""

import argparse
import importlib
import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import onnx_writer
import tensors


# What models import besides ai.onnx, and which version of it.
DOMAINS = (("ai.onnx.ml", 3), ("com.microsoft", 1))


class Case:
    """Nodes over inputs that are given and constants that the compiler knows, and what must come out.

    `nodes` holds (operator, inputs, outputs, attributes), an operator of another domain being "domain::operator".
    `outputs` maps names to tensors.
    """

    def __init__(self, name, nodes, inputs, outputs, constants=None, rtol=1e-5, atol=1e-5):
        self.name, self.nodes, self.inputs, self.outputs = name, nodes, inputs, outputs
        self.constants, self.rtol, self.atol = constants or {}, rtol, atol


def single(name, operator, inputs, output, constants=None, rtol=1e-5, atol=1e-5, **attributes):
    """A case of one node. Inputs come first among the operands, then constants; None leaves one out."""
    constants = constants or {}
    operands = [*inputs, *(key if value is not None else "" for key, value in constants.items())]
    known = {key: value for key, value in constants.items() if value is not None}
    return Case(name, [(operator, operands, ["y"], attributes)], inputs, {"y": output}, known, rtol, atol)


def makeModel(cases, opset):
    nodes, inputs, outputs, constants = [], [], [], {}
    for case in cases:
        own = lambda value, name=case.name: f"{name}.{value}" if value else ""
        for k, (operator, operands, results, attributes) in enumerate(case.nodes):
            name = case.name if len(case.nodes) == 1 else f"{case.name}#{k}"
            domain, _, plain = operator.rpartition("::")
            nodes.append(onnx_writer.node(plain, map(own, operands), list(map(own, results)), name, domain, **attributes))
        inputs += [(own(name), value.dtype, value.shape) for name, value in case.inputs.items()]
        outputs += [(own(name), value.dtype, value.shape) for name, value in case.outputs.items()]
        constants.update({own(name): value for name, value in case.constants.items()})
    return onnx_writer.model(nodes, inputs, outputs, constants, opset, DOMAINS)


def call(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return None if result.returncode == 0 else f"exit code {result.returncode}: {result.stderr.strip()}"


def compare(case, name, got):
    want = case.outputs[name]
    if (got.shape, got.dtype) != (want.shape, want.dtype):
        return f"{name} is {got.dtype}{list(got.shape)}, wanted {want.dtype}{list(want.shape)}"
    for place, (a, b) in enumerate(zip(got.data, want.data)):
        if a != b and not (isinstance(b, float) and (math.isnan(a) and math.isnan(b) or abs(a - b) <= case.atol + case.rtol * abs(b))):
            return f"{name}: element {place} of {list(want.shape)} is {a!r}, wanted {b!r}"
    return None


def runAll(cases, folder, options):
    """What is wrong, by the name of the case; None where the model does not even compile."""
    model, artifact = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.tenon")
    onnx_writer.write(model, makeModel(cases, options.opset))
    targets = [word for name in options.target for word in ("--target", name)]
    error = call("tenon", "compile", model, "-o", artifact, *targets)
    command = [*options.runner.split(), artifact, "--output-dir", folder]
    for case in cases:
        for name, value in case.inputs.items():
            path = os.path.join(folder, f"in-{case.name}.{name}.npy")
            tensors.writeNpy(path, value)
            command += ["--input", f"{case.name}.{name}={path}"]
    error = error or call(*command)
    if error:
        return {cases[0].name: error} if len(cases) == 1 else None
    wrong = {}
    for case in cases:
        for name in case.outputs:
            fault = compare(case, name, tensors.readNpy(os.path.join(folder, f"{case.name}.{name}.npy"), case.outputs[name].dtype))
            if fault:
                wrong[case.name] = fault
    return wrong


def runEach(cases, folder, options):
    wrong = {}
    for case in cases:
        own = os.path.join(folder, case.name)
        os.makedirs(own, exist_ok=True)
        wrong.update(runAll([case], own, options))
    return wrong or {"all": "do not compile together, though each does by itself"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("family")
    parser.add_argument("--only")
    parser.add_argument("--keep")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--runner", default="tenon-run")
    options = parser.parse_args()
    family = importlib.import_module("families." + options.family)
    options.opset = getattr(family, "OPSET", 21)
    cases = [case for case in family.cases() if options.only in (None, case.name)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        wrong = runAll(cases, folder, options)
        if wrong is None:
            wrong = runEach(cases, folder, options)
    for name, fault in wrong.items():
        print(f"{options.family}: {name}: {fault}")
    print(f"{options.family}: {len(cases) - len(wrong)} of {len(cases)} right")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    # Families import this file as a module: one copy of its classes is enough.
    sys.modules["run"] = sys.modules["__main__"]
    sys.exit(main())
