# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Times of many runs of a model in another runtime, as JSON. Needs its packages.

    peer_time.py onnxruntime model.onnx '{"x": [1, 3, 224, 224]}' --threads=2 --runs=100
"""

import argparse
import json
import time

import numpy as np
import onnx


def makeInputs(path, shapes):
    """Numbers that are valid as values and as indices alike: all ones where they are integers."""
    model = onnx.load(path)
    random = np.random.default_rng(1)
    inputs = {}
    for info in model.graph.input:
        if info.name not in shapes:
            continue
        dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        dims = shapes[info.name]
        inputs[info.name] = random.standard_normal(dims).astype(dtype) if dtype.kind == "f" else np.ones(dims, dtype)
    return inputs


def openOnnxruntime(path, inputs, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


def openOpenvino(path, inputs, threads):
    import openvino

    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: list(value.shape) for name, value in inputs.items()})
    options = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": str(threads), "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(model, "CPU", options).create_infer_request()
    for name, value in inputs.items():
        request.set_tensor(name, openvino.Tensor(value))
    return request.infer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runtime", choices=["onnxruntime", "openvino"])
    parser.add_argument("model")
    parser.add_argument("shapes", type=json.loads)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    options = parser.parse_args()
    open_ = {"onnxruntime": openOnnxruntime, "openvino": openOpenvino}[options.runtime]
    run = open_(options.model, makeInputs(options.model, options.shapes), options.threads)
    times = []
    for _ in range(options.runs + min(50, options.runs)):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e3)
    times = sorted(times[-options.runs :])
    print(json.dumps({"median_ms": float(np.median(times)), "p99_ms": times[(len(times) - 1) * 99 // 100]}))


main()
