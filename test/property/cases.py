# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Cases from a seed, the ONNX models that hold them, and what the reference evaluator says of them."""

import importlib
import pathlib
import random
import warnings

import numpy
import onnx
from corrections import correctionsFor
from draw import NUMBERS, Draw, isFloat, toOnnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

# Cases of one model: enough to hide the start of two programs, few enough that splitting a model that fails is quick.
BATCH = 24
TAKES = 3
# Beside those of a family.
targets = []
# The words of the command that runs artifacts for 64-bit Arm; empty if none does.
armRunner = []


class Case:
    """One case and its takes. `wanted` holds the outputs of each take; None where the reference could not tell."""

    def __init__(self, seed, family, number):
        module = importlib.import_module("families." + family)
        # One opset a batch: a model has one.
        batch = random.Random(f"{seed} {family} batch {number // BATCH}")
        newest = onnx.defs.onnx_opset_version()
        self.opset = newest if batch.random() < 0.4 else batch.randint(getattr(module, "OLDEST", 13), newest)
        self.hasComposites = hasattr(module, "COMPOSITES")
        self.isGuarded = hasattr(module, "GUARDED")
        self.options = [*getattr(module, "OPTIONS", ())]
        self.targets = [target for target in [*getattr(module, "TARGETS", ()), *targets] if _runs(target)]
        if getattr(module, "IN_TURN", False):
            self.operator = [*module.OPERATORS][number % len(module.OPERATORS)]
        else:
            names = [name for name in module.OPERATORS if _exists(name.split()[0], self.opset)]
            self.operator = random.Random(f"{seed} {family} {number} operator").choice(names)
        self.name, self.number = f"{family}-{number}", number
        # Large constants do not survive as text, which composites go through.
        draws = [Draw(seed, family, number, self.opset, take, not self.hasComposites) for take in range(TAKES)]
        for draw in draws:
            module.OPERATORS[self.operator](draw, self.operator.split()[0])
        # Sizes that other operands depend on can make another model of a take: that one is left out.
        self.takes = [draw for draw in draws if _model(draw) == _model(draws[0])]
        self.wanted, self.complaint = None, ""

    def evaluate(self):
        try:
            self.wanted = [_evaluate(draw, self.opset) for draw in self.takes]
        except Exception as error:  # Whatever the evaluator raises, it does not know.
            lines = str(error).strip().splitlines() or [""]
            self.complaint = f"{type(error).__name__}: {lines[0]}"[:200]
        return self.wanted is not None

    def describe(self):
        draw = self.takes[0]
        operands = [f"{values.dtype}{list(values.shape)}" for values in [*draw.inputs.values(), *draw.constants.values()]]
        attributes = [f"{a.name}={helper.get_attribute_value(a)}" for node in draw.nodes for a in node.attribute if not a.HasField("g")]
        return f"{self.operator} (opset {self.opset}) {' '.join(attributes)} of {', '.join(operands)}"


def _runs(target):
    """Whether this machine runs code for a target, as far as Linux says it."""
    if target.startswith("aarch64"):
        return bool(armRunner)
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}[target.split("+")[0]] in flags


def _exists(operator, opset):
    try:
        return not onnx.defs.get_schema(operator, opset).deprecated
    except onnx.defs.SchemaError:
        return False


def _model(draw):
    return joinModel([draw], draw.opset).SerializeToString(deterministic=True)


def _inputInfo(name, dtype, dims):
    return helper.make_tensor_value_info(name, toOnnx(dtype), [getattr(dim, "name", None) or int(dim) for dim in dims])


def _constant(name, values):
    return onnx.numpy_helper.from_array(numpy.ascontiguousarray(values).reshape(values.shape), name)


def joinModel(draws, opset, convert=lambda dtype: dtype):
    """One model of independent nodes."""
    nodes = [node for draw in draws for node in draw.nodes]
    inputs = [_inputInfo(name, convert(draw.inputs[name].dtype), draw.dims[name]) for draw in draws for name in draw.inputs]
    outputs = [helper.make_tensor_value_info(name, toOnnx(convert(dtype)), None) for draw in draws for name, dtype in draw.outputs]
    constants = [_constant(name, values.astype(convert(values.dtype))) for draw in draws for name, values in draw.constants.items()]
    graph = helper.make_graph(nodes, "property", inputs, outputs, constants)
    functions = [function for draw in draws for function in draw.functions]
    imports = [helper.make_opsetid(domain, 1) for domain in sorted({function.domain for function in functions})]
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *imports], functions=functions, ir_version=10)


def _widen(dtype):
    return NUMBERS["float32"] if isFloat(dtype) and dtype.itemsize < 4 else dtype


def _evaluate(draw, opset):
    """Outputs by name. Floats of few bits are computed with 32 and rounded once, which is the most that can be asked for."""
    if all(name in draw.expected for name, _ in draw.outputs):
        return draw.expected
    convert = _widen if draw.isWidened else lambda dtype: dtype
    model = joinModel([draw], opset, convert)
    inputs = {name: values.astype(convert(values.dtype)) for name, values in draw.inputs.items()}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        results = ReferenceEvaluator(model, new_ops=correctionsFor(opset)).run(None, inputs)
        return {name: numpy.asarray(value).astype(dtype) for (name, dtype), value in zip(draw.outputs, results)}
