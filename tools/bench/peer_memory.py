# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Memory that other runtimes take for what a model computes on the way, as bytes in JSON. Needs their packages.

    peer_memory.py onnxruntime model.onnx '{"x": [1, 3, 224, 224]}' [input_0.pb...]

ONNX Runtime: what its arena grows by while the session runs, told by its log. The arena takes just what is asked
for, and the session runs twice: then with one block by its memory pattern, and what kernels take beside it. After a
run the arena gives back what is free, and results are kept, so that the second run takes all anew. Weights and what
is packed of them is taken before; outputs lie in the arena.

IREE: what the compiled program allocates for transient values, told by its instructions.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.version_converter


def readInputs(model, shapes, files):
    """Inputs by name: from the files in order, or else ones, which are valid as masks and as indices."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    infos = [info for info in model.graph.input if info.name not in initialized]
    if files:
        loaded = [onnx.numpy_helper.to_array(onnx.load_tensor(file)) for file in files]
        return {info.name: value for info, value in zip(infos, loaded)}
    types = {info.name: onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type) for info in infos}
    return {name: np.ones(dims, types[name]) for name, dims in shapes.items()}


# --- ONNX Runtime -------------------------------------------------------------------------------------------------


def openSession(path):
    import onnxruntime
    from onnxruntime.capi import _pybind_state as native

    onnxruntime.set_default_logger_severity(1)
    arena = native.OrtMemoryInfo("Cpu", native.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, native.OrtMemType.DEFAULT)
    asRequested = native.OrtArenaCfg({"arena_extend_strategy": 1, "initial_chunk_size_bytes": 4096})
    native.create_and_register_allocator(arena, asRequested)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.use_env_allocators", "1")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def growth(work):
    """Bytes by which arenas grow while `work` runs: their log goes to the standard error of the process."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            work()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        log.seek(0)
        return sum(int(size) for size in re.findall(rb"Extended allocation by (\d+) bytes", log.read()))


def onnxRuntime(path, shapes, files):
    import onnxruntime

    inputs = readInputs(onnx.load(path), shapes, files)
    session, results = None, []
    options = onnxruntime.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def load():
        nonlocal session
        session = openSession(path)

    def run():
        results.append(session.run(None, inputs, options))

    growth(load)  # weights
    growth(run)
    return growth(run)


# --- IREE ---------------------------------------------------------------------------------------------------------


OLDEST_OPSET = 17  # that IREE reads well


def writeFixed(path, shapes, target):
    """A copy without open dimensions, in an opset that IREE reads."""
    model = onnx.load(path)
    if any(entry.domain in ("", "ai.onnx") and entry.version < OLDEST_OPSET for entry in model.opset_import):
        model = onnx.version_converter.convert_version(model, OLDEST_OPSET)
    for info in model.graph.input:
        for dim, size in zip(info.type.tensor_type.shape.dim, shapes.get(info.name, [])):
            dim.dim_value = size
    for info in model.graph.output:
        for dim in info.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")
    target.write_bytes(model.SerializeToString())


def call(tool, *arguments):
    command = [pathlib.Path(sys.executable).with_name(tool), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        sys.exit(f"error: {tool}: {(errors or ['ended with ' + str(done.returncode)])[0]}")


IREE_OPTIONS = ["--compile-to=stream", "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-data-tiling=true"]


def iree(path, shapes, files):
    with tempfile.TemporaryDirectory() as folder:
        fixed, mlir, stream = (pathlib.Path(folder) / name for name in ("fixed.onnx", "model.mlir", "stream.mlir"))
        writeFixed(path, shapes, fixed)
        call("iree-import-onnx", fixed, "-o", mlir)
        call("iree-compile", mlir, "-o", stream, "--mlir-elide-resource-strings-if-larger=16", *IREE_OPTIONS)
        made = re.findall(r"stream\.resource\.alloca .*!stream\.resource<transient>\{%(c\d+)?", stream.read_text())
        if "" in made:
            sys.exit("error: IREE decides at run time how much it takes")
        return sum(int(size[1:]) for size in made)


if __name__ == "__main__":
    measure = {"onnxruntime": onnxRuntime, "iree": iree}[sys.argv[1]]
    print(json.dumps(measure(sys.argv[2], json.loads(sys.argv[3]), sys.argv[4:])))
