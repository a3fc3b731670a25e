# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compiles plug-ins and models with their operators, runs them, and compares: run.py SOURCE FOLDER. Python with numpy and onnx."""

import os
import pathlib
import re
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper

SOURCE, FOLDER = (pathlib.Path(argument) for argument in sys.argv[1:3])
FOLDER.mkdir(parents=True, exist_ok=True)
DOMAIN, LIBRARY = "com.example", FOLDER / "example.so"
TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "i64": TensorProto.INT64, "u8": TensorProto.UINT8, "bool": TensorProto.BOOL}
faults, count = [], 0


def check(what, isFine, detail=""):
    global count
    count += 1
    if not isFine:
        faults.append(what)
        print(f"{what}: {detail}")


def call(*command, **environment):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", env=os.environ | environment)
    return result.returncode, result.stderr.strip()


def build(output, *options, source=SOURCE / "test/tools/Inputs/plugin/operators.c"):
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-I", SOURCE / "runtime/include", *options, source, "-o", output], check=True)
    return output


def op(name, inputs, outputs, title="the_node", **attributes):
    return helper.make_node(name, inputs, outputs, title, domain=DOMAIN, **attributes)


def save(name, nodes, inputs, outputs, constants=()):
    infos = [helper.make_tensor_value_info(each, TYPES[type], shape) for each, type, shape in inputs]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=each) for each in outputs], list(constants))
    path = FOLDER / (name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)], ir_version=10), path)
    return path


def compileModel(path, *options, plugin=LIBRARY):
    artifact = path.with_suffix(".tenon")
    return artifact, *call("tenon", "compile", path, "-o", artifact, *(["--plugin", plugin] if plugin else []), *options)


def run(artifact, feeds, *options, plugin=LIBRARY, **environment):
    arguments = ["--plugin", plugin] if plugin else []
    for name, array in feeds.items():
        file = artifact.with_suffix(f".{name}.npy")
        numpy.save(file, array)
        arguments += ["--input", f"{name}={file}"]
    results = artifact.with_suffix("")
    code, text = call("tenon-run", artifact, *arguments, "--output-dir", results, *options, **environment)
    return code, text, results


def expect(name, path, feeds, wanted, *compileOptions):
    artifact, code, text = compileModel(path, *compileOptions)
    check(name + ", compile", code == 0, text)
    for options, environment in (([], {}), (["--threads", "1"], {}), ([], {"TENON_DEBUG_ARENA": "1"})):
        if code == 0:
            result, text, results = run(artifact, feeds, *options, **environment)
            check(f"{name}, run {options} {environment}", result == 0, text)
            for output, array in wanted.items() if result == 0 else ():
                got = numpy.load(results / f"{output}.npy")
                isSame = got.dtype == array.dtype and got.shape == array.shape and numpy.allclose(got, array, 1e-5, 1e-6)
                check(f"{name}, output {output}", isSame, f"{got.tolist()}, wanted {array.tolist()}")
    return artifact


def refused(name, result, code, pattern):
    check(name, result[0] == code and len(result[1].splitlines()) == 1 and re.search(pattern, result[1]), f"exit code {result[0]}: {result[1]}")


def scale():
    """Symbolic shapes, operands left out, attributes of each kind, operations of Tenon's around."""
    nodes = [helper.make_node("Neg", ["x"], ["a"]), op("Scale", ["a", ""], ["b"], by=2.0, offsets=[1, 2], mode="plain"),
             helper.make_node("Exp", ["b"], ["c"]), op("Scale", ["c", "x"], ["d"], "second", by=-1.0), helper.make_node("Add", ["d", "a"], ["y"])]
    path = save("scale", nodes, [("x", "f32", ["N", 3])], ["y", "b"])
    for rows in (0, 1, 7):
        x = numpy.linspace(-1, 1, rows * 3, dtype=numpy.float32).reshape(rows, 3)
        b = -x * 2 + 3
        expect(f"scale of {rows} rows", path, {"x": x}, {"y": x - numpy.exp(b) - x, "b": b})
    expect("scale of fixed rows", path, {"x": x}, {"b": b}, "--shape", "x=7x3")
    expect("scale in a range", path, {"x": x}, {"b": b}, "--range", "N=1..9")
    expect("scale for two targets", path, {"x": x}, {"b": b}, "--target", "host", "--target", "x86-64-v2")
    expect("scale with its error", path, {"x": x}, {"b": b}, "--measure-error")


def compact():
    """Sizes that data decides, two results, several types; also one that nobody uses."""
    for type, dtype in (("f32", "f4"), ("f16", "f2"), ("i64", "i8"), ("u8", "u1"), ("bool", "?")):
        path = save(f"compact-{type}", [op("Compact", ["x"], ["v", "p"])], [("x", type, ["N"])], ["v", "p"])
        for size in (0, 1, 13):
            x = (numpy.arange(size) % 3).astype(dtype)
            expect(f"compact of {size} {type}", path, {"x": x}, {"v": x[x != 0], "p": numpy.flatnonzero(x)})
    path = save("places", [op("Compact", ["x"], ["", "p"]), helper.make_node("Add", ["p", "p"], ["y"])], [("x", "f32", ["N"])], ["y"])
    expect("places", path, {"x": x.astype("f4")}, {"y": 2 * numpy.flatnonzero(x)})


def ones():
    """A shape that is a constant, and one that is an input."""
    shape = numpy.array([2, 0, 3])
    path = save("ones", [op("Ones", ["s"], ["y"])], [], ["y"], [onnx.numpy_helper.from_array(shape, "s")])
    expect("ones of a constant", path, {}, {"y": numpy.ones(shape, numpy.float32)})
    path = save("ones-when-run", [op("Ones", ["s"], ["o"]), helper.make_node("Neg", ["o"], ["y"])], [("s", "i64", [2])], ["y"])
    for shape in ([3, 5], [0, 4]):
        expect(f"ones of {shape}", path, {"s": numpy.array(shape)}, {"y": -numpy.ones(shape, numpy.float32)})


def control():
    """Inside of branches and loops."""
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    branch = lambda by: helper.make_graph([op("Scale", ["x"], [f"t{by}"], f"by{by}", by=float(by))], f"g{by}", [], [info(f"t{by}")])
    path = save("branches", [helper.make_node("If", ["c"], ["y"], then_branch=branch(2), else_branch=branch(3))],
                [("c", "bool", []), ("x", "f32", ["N"])], ["y"])
    x = numpy.arange(5, dtype=numpy.float32)
    for value, by in ((True, 2), (False, 3)):
        expect(f"branch {value}", path, {"c": numpy.array(value), "x": x}, {"y": x * by})
    body = helper.make_graph([op("Scale", ["s"], ["n"], by=2.0), helper.make_node("Identity", ["k"], ["m"])], "body",
                             [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("k", TensorProto.BOOL, []), info("s")],
                             [helper.make_tensor_value_info("m", TensorProto.BOOL, []), info("n")])
    path = save("loop", [helper.make_node("Loop", ["t", "", "x"], ["y"], body=body)], [("t", "i64", []), ("x", "f32", ["N"])], ["y"])
    for times in (0, 1, 5):
        expect(f"loop of {times}", path, {"t": numpy.array(times), "x": x}, {"y": x * 2**times})


def rules():
    """Plug-ins that break them."""
    x = numpy.ones(3, numpy.float32)
    for what, pattern in (("early", "an extent of -77, which is no extent of its inputs"), ("no type", "does not say the type and the rank")):
        path = save("bad", [op("Bad", ["x"], ["y"], what=what)], [("x", "f32", ["N"])], ["y"])
        refused(what, compileModel(path)[1:], 3, pattern)
    for what, code, pattern in (
        ("type", 1, "node 'the_node': plug-in 'example' gives result 0 as i8 of rank 1, the model was compiled for f32 of rank 1"),
        ("negative", 1, "node 'the_node': plug-in 'example' gives result 0 a shape that no tensor has"),
        ("huge", 1, "node 'the_node': plug-in 'example' gives result 0 a shape that no tensor has"),
        ("large", 4, "bytes"),
        ("resources", 4, "node 'the_node': plug-in 'example' says: the limit 'patience' is reached"),
        ("silent", 70, "node 'the_node': plug-in 'example' failed without a reason"),
    ):
        path = save("bad", [op("Bad", ["x"], ["y"], what=what)], [("x", "f32", ["N"])], ["y"])
        artifact, result, text = compileModel(path)
        check(f"{what}, compile", result == 0, text)
        refused(what, run(artifact, {"x": x})[:2], code, pattern)
    for mode, code, pattern in (("fast", 3, r"Scale has no mode but plain\?and this line is none"),):
        path = save("mode", [op("Scale", ["x"], ["y"], mode=mode)], [("x", "f32", ["N"])], ["y"])
        refused("mode", compileModel(path)[1:], code, pattern)
    path = save("type", [op("Scale", ["x"], ["y"])], [("x", "i64", ["N"])], ["y"])
    refused("element type", compileModel(path)[1:], 1, "the_node.*Scale takes f32")
    path = save("tensor", [op("Scale", ["x"], ["y"], by=onnx.numpy_helper.from_array(x))], [("x", "f32", ["N"])], ["y"])
    refused("tensor attribute", compileModel(path)[1:], 3, "attribute 'by' is neither of numbers nor a string")
    path = save("unknown", [op("Nothing", ["x"], ["y"])], [("x", "f32", ["N"])], ["y"])
    refused("unknown operator", compileModel(path)[1:], 3, "operator Nothing of domain com.example, opset 1, is not supported")
    path = save("relu", [helper.make_node("Relu", ["x"], ["y"])], [("x", "f32", ["N"])], ["y"])
    expect("a built-in stays", path, {"x": x - 2}, {"y": x * 0})


def libraries():
    """Which files are opened, and what is said of those that are not."""
    path = save("one", [op("Scale", ["x"], ["y"], by=3.0)], [("x", "f32", ["N"])], ["y"])
    x = numpy.arange(4, dtype=numpy.float32)
    refused("compile without", compileModel(path, plugin=None)[1:], 3, "operator Scale of domain com.example, opset 1, is not supported")
    refused("compile with nothing", compileModel(path, plugin=FOLDER / "none.so")[1:], 3, "--plugin: plug-in '.*none.so' cannot be opened")
    text = FOLDER / "text.so"
    text.write_text("text")
    refused("compile with text", compileModel(path, plugin=text)[1:], 3, "--plugin: plug-in '.*text.so' cannot be opened")
    refused("another version", compileModel(path, plugin=build(FOLDER / "old.so", "-DVERSION=0"))[1:], 3, "another version of the interface than 1")
    artifact, code, message = compileModel(path)
    check("one, compile", code == 0, message)
    refused("run without", run(artifact, {"x": x}, plugin=None)[:2], 3, "needs plug-in 'example', and there is no libtenon-plugin-example.so in ")
    build(FOLDER / "libtenon-plugin-example.so")
    check("by the environment", run(artifact, {"x": x}, plugin=None, TENON_PLUGIN_PATH=f"/nowhere:{FOLDER}")[0] == 0)
    refused("without the operator", run(artifact, {"x": x}, plugin=build(FOLDER / "empty.so", "-DCOUNT=0"))[:2], 3,
            "needs operator 'com.example::Scale', which plug-in 'example' does not have")
    build(FOLDER / "libtenon-plugin-example.so", '-DNAME="other"')
    refused("another name", run(artifact, {"x": x}, plugin=None, TENON_PLUGIN_PATH=FOLDER)[:2], 3, "calls itself 'other'")
    result = subprocess.run(["tenon", "inspect", "--all", "--wide", artifact], capture_output=True, text=True).stdout
    check("inspect", "host_call" in result and "example/Scale" in result, result)
    # The one of the documentation beside it, and the text of the model in between.
    example = FOLDER / "scale.c"
    example.write_text(re.search("```c\n(.*?)```", (SOURCE / "docs/Plugins.md").read_text(), re.DOTALL).group(1))
    second = build(FOLDER / "scale.so", source=example)
    artifact, code, message = compileModel(path, "--plugin", second)
    check("the documentation's, compile", code == 0, message)
    code, message, results = run(artifact, {"x": x}, "--plugin", second)
    check("the documentation's, run", code == 0 and numpy.array_equal(numpy.load(results / "y.npy"), 3 * x), message)
    text = FOLDER / "text.mlir"
    text.write_text(TEXT)
    artifact, code, message = compileModel(text, plugin=None)
    check("text, compile", code == 0, message)
    code, message, results = run(artifact, {"x": x})
    check("text, run", code == 0 and numpy.array_equal(numpy.load(results / "y.npy"), 3 * x), message)


TEXT = """
func.func @main(%x: tensor<?xf32, #tenon.shape<N>> {tenon.name = "x"}) -> (tensor<?xf32, #tenon.shape<N>> {tenon.name = "y"}) {
  %0 = tenon.host_call "example" "com.example" "Scale"(%x) {parameters = {by = array<f64: 3.0>}, present = array<i1: true>}
    : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}
"""

build(LIBRARY)
for family in (scale, compact, ones, control, rules, libraries):
    family()
print(f"{count} checks, {len(faults)} failed")
sys.exit(1 if faults or not count else 0)
