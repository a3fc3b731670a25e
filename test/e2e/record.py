#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Records what ONNX Runtime computes for operators that ONNX has no cases for: Inputs/recorded.json.

Needs numpy, onnx and onnxruntime, and is run by hand when a case is added; the test itself, families/recorded.py,
needs the file alone. Inputs are seeded, sizes odd. Where ONNX Runtime departs from the specification there is no case.
"""

import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import helper

TYPES = {"float32": "f32", "int64": "i64", "int32": "i32", "uint8": "u8", "int8": "i8", "bool": "bool"}
RECORDS = []


class Random:
    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def floats(self, *shape, low=-1.0, high=1.0):
        return self.generator.uniform(low, high, shape).round(3).astype(np.float32)

    def ints(self, low, high, *shape, dtype=np.int32):
        return self.generator.integers(low, high, shape).astype(dtype)

    def list(self, count):
        return [round(float(x), 4) for x in self.generator.uniform(-1, 1, count)]


def _value(array):
    data = array.ravel().tolist()
    if array.dtype == np.float32:
        data = [float(f"{x:.6g}") if np.isfinite(x) else str(x) for x in data]
    return {"dtype": TYPES[str(array.dtype)], "shape": list(array.shape), "data": data}


def _infer(node, feeds, constants, domain, outputs, wanted):
    """The results, by the first element types of outputs that ONNX Runtime takes."""
    imports = [helper.make_opsetid("", 21)] + ([helper.make_opsetid(domain, 1 if domain == "com.microsoft" else 3)] if domain else [])
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in feeds.items()]
    known = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    results = [helper.make_tensor_value_info(name, dtype, None) for name, dtype in zip(outputs, wanted)]
    graph = helper.make_graph([node], "recorded", inputs, results, known)
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(outputs, feeds)


def record(name, operator, operands, outputs=1, constants=(), domain="com.microsoft", rtol=1e-4, atol=1e-5, types=(), skip=(), values=None, **attributes):
    """`operands` are arrays, None for one left out; those whose numbers are in `constants` are known when compiling.

    `values` are the results where ONNX Runtime's are less exact than ours.
    """
    names = [f"i{k}" if value is not None else "" for k, value in enumerate(operands)]
    feeds = {names[k]: value for k, value in enumerate(operands) if value is not None and k not in constants}
    known = {names[k]: operands[k] for k in constants}
    results = ["" if k in skip else f"o{k}" for k in range(outputs)]
    shown = [result for result in results if result]
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    types = list(types) + [onnx.TensorProto.FLOAT] * (len(shown) - len(types))
    if values is None:
        values = _infer(node, feeds, known, domain, shown, types)
    RECORDS.append({
        "name": name, "operator": f"{domain}::{operator}", "operands": names, "results": results, "attributes": attributes,
        "inputs": {key: _value(value) for key, value in feeds.items()},
        "constants": {key: _value(value) for key, value in known.items()},
        "outputs": {key: _value(value) for key, value in zip(shown, values)}, "rtol": rtol, "atol": atol,
    })


UINT8, INT8, INT64 = onnx.TensorProto.UINT8, onnx.TensorProto.INT8, onnx.TensorProto.INT64


def addProducts():
    r = Random(1)
    x, y = r.floats(2, 3, 5, 7), r.floats(2, 3, 7, 3)
    record("FusedMatMul", "FusedMatMul", [x, y], alpha=0.5)
    record("FusedMatMulTransposed", "FusedMatMul", [r.floats(3, 7, 5), r.floats(3, 2, 7)], transA=1, transB=1)
    record("FusedMatMulBatch", "FusedMatMul", [r.floats(5, 3, 7), r.floats(3, 7, 2)], transBatchA=1)
    record("FusedMatMulBatchBoth", "FusedMatMul", [r.floats(5, 3, 7), r.floats(7, 3, 2)], transBatchA=1, transBatchB=1)
    record("FusedGemm", "FusedGemm", [r.floats(5, 3), r.floats(5, 7), r.floats(7)], transA=1, alpha=0.5, beta=2.0, activation="LeakyRelu", activation_alpha=0.1)
    for activation, params in (("Relu", None), ("HardSigmoid", [0.3, 0.4]), ("Clip", [-0.5, 0.5]), ("Tanh", None)):
        extra = {"activation_params": params} if params else {}
        record("FusedConv" + activation, "FusedConv", [r.floats(1, 3, 7, 5), r.floats(4, 3, 3, 3), r.floats(4)], activation=activation, pads=[1, 0, 1, 0], **extra)
    for bits, columns, block in ((4, 37, 16), (4, 64, 32), (8, 33, 16)):
        rows, blocks = 5, -(-columns // block)
        packed = r.ints(0, 256, rows, blocks, block * bits // 8, dtype=np.uint8)
        scales = r.floats(rows * blocks, low=0.01, high=0.1)
        zeros = r.ints(0, 256, rows * (-(-blocks * bits // 8)), dtype=np.uint8)
        name = f"MatMulNBits{bits}x{columns}"
        record(name, "MatMulNBits", [r.floats(3, columns), packed, scales], constants=(1, 2), N=rows, K=columns, block_size=block, bits=bits)
        record(name + "Zeros", "MatMulNBits", [r.floats(2, 3, columns), packed, scales, zeros, None, r.floats(rows)], constants=(1, 2, 3), N=rows, K=columns, block_size=block, bits=bits)


def addActivations():
    r = Random(2)
    x = r.floats(3, 5, 7, low=-3, high=3)
    record("BiasGelu", "BiasGelu", [x, r.floats(7)])
    record("FastGelu", "FastGelu", [x])
    record("FastGeluBias", "FastGelu", [x, r.floats(7)])
    record("Gelu", "Gelu", [x])
    record("QuickGelu", "QuickGelu", [x], alpha=1.5)


def addNorms():
    r = Random(3)
    x, skip, gamma, beta, bias = r.floats(2, 3, 7), r.floats(2, 3, 7), r.floats(7), r.floats(7), r.floats(7)
    record("SkipLayerNorm", "SkipLayerNormalization", [x, skip, gamma, beta, bias], outputs=4, skip=(1, 2), epsilon=1e-3)
    record("SkipLayerNormPlain", "SkipLayerNormalization", [x, skip, gamma])
    record("SkipLayerNormFlat", "SkipLayerNormalization", [x, skip[0], gamma, beta])
    record("SkipRmsNorm", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], outputs=4, skip=(1, 2), epsilon=1e-4)
    record("RmsNorm", "SimplifiedLayerNormalization", [x, gamma], domain="", epsilon=1e-4, axis=-1)
    ids, segments, mask = r.ints(0, 9, 2, 5), r.ints(0, 2, 2, 5), np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    words, places, kinds = r.floats(9, 8), r.floats(6, 8), r.floats(2, 8)
    record("EmbedLayerNorm", "EmbedLayerNormalization", [ids, segments, words, places, kinds, r.floats(8), r.floats(8), mask], outputs=2, types=[1, 6])
    record("EmbedLayerNormPlaces", "EmbedLayerNormalization", [ids, None, words, places, None, r.floats(8), r.floats(8), None, r.ints(0, 6, 2, 5)], outputs=3, types=[1, 6, 1])


def addAttention():
    r = Random(4)
    x, w, b = r.floats(2, 5, 6), r.floats(6, 24), r.floats(24)
    left = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    record("Attention", "Attention", [x, w, b], constants=(1, 2), num_heads=2)
    record("AttentionMask", "Attention", [x, w, b, left], constants=(1, 2), num_heads=2, scale=0.3)
    record("AttentionCounts", "Attention", [x, w, b, np.array([3, 5], np.int32)], constants=(1, 2), num_heads=2)
    record("AttentionRanges", "Attention", [x, w, b, np.array([5, 4, 1, 0], np.int32)], constants=(1, 2), num_heads=2)
    record("AttentionCausal", "Attention", [x, w, b, None, None, r.floats(2, 2, 5, 5)], constants=(1, 2), num_heads=2, unidirectional=1)
    past = r.floats(2, 2, 2, 3, 4)
    record("AttentionPast", "Attention", [x, w, b, None, past], outputs=2, constants=(1, 2), num_heads=2, unidirectional=1)
    record("AttentionSizes", "Attention", [x, r.floats(6, 20), r.floats(20)], constants=(1, 2), num_heads=2, qkv_hidden_sizes=[8, 8, 4])
    weight = r.ints(-128, 128, 6, 24, dtype=np.int8)
    record("QAttention", "QAttention", [r.ints(0, 256, 2, 5, 6, dtype=np.uint8), weight, b, np.array(0.01, np.float32), np.array(0.02, np.float32), None, np.array(120, np.uint8), np.array(3, np.int8)], constants=(1, 2), num_heads=2)

    q, k, v = r.floats(2, 3, 8), r.floats(2, 5, 8), r.floats(2, 5, 6)
    record("MultiHead", "MultiHeadAttention", [q, k, v], num_heads=2)
    record("MultiHeadBias", "MultiHeadAttention", [q, k, v, r.floats(22), left, r.floats(2, 2, 3, 5)], num_heads=2, scale=0.4)
    record("MultiHeadCross", "MultiHeadAttention", [q, r.floats(2, 2, 5, 4), r.floats(2, 2, 5, 4)], num_heads=2)
    record("MultiHeadPast", "MultiHeadAttention", [q, r.floats(2, 3, 8), r.floats(2, 3, 8), None, None, None, r.floats(2, 2, 4, 4), r.floats(2, 2, 4, 4)], outputs=3, num_heads=2, unidirectional=1)
    record("MultiHeadCausal", "MultiHeadAttention", [q, r.floats(2, 3, 8), r.floats(2, 3, 8)], num_heads=4, unidirectional=1)

    cosines, sines = r.floats(16, 4), r.floats(16, 4)
    for name, extra in (("Rotary", {}), ("RotaryInterleaved", {"interleaved": 1})):
        record(name, "RotaryEmbedding", [r.floats(2, 3, 16), np.array([[1, 2, 3], [7, 4, 0]], np.int64), cosines, sines], constants=(2, 3), **extra)
    record("RotaryHeads", "RotaryEmbedding", [r.floats(2, 2, 3, 8), np.array([5], np.int64), cosines, sines], constants=(2, 3))
    record("RotaryPart", "RotaryEmbedding", [r.floats(1, 3, 24), np.array([5], np.int64), cosines, sines], constants=(2, 3), num_heads=2, rotary_embedding_dim=8)


def addGroupAttention():
    r = Random(5)
    heads, groups = 2, 1
    cosines, sines = r.floats(16, 8), r.floats(16, 8)

    def query(name, count, past, lengths, total, packed=False, bias=None, sink=None, rotary=False, **attributes):
        size = 16 if rotary else 8
        q = r.floats(2, count, (heads + 2 * groups) * size if packed else heads * size)
        k, v = (None, None) if packed else (r.floats(2, count, groups * size), r.floats(2, count, groups * size))
        before = [r.floats(2, groups, past, size), r.floats(2, groups, past, size)] if past is not None else [None, None]
        # Behind what went before there is nothing yet.
        for buffer in before if past is not None else []:
            for batch, length in enumerate(lengths):
                buffer[batch, :, length + 1 - count :] = 0
        operands = [q, k, v, *before, np.array(lengths, np.int32), np.array([total], np.int32)]
        operands += [cosines, sines] if rotary else [None, None]
        operands += [None, bias, sink]
        while operands[-1] is None:
            operands.pop()
        constants = (6, 7, 8) if rotary else (6,)
        record("GroupQuery" + name, "GroupQueryAttention", operands, outputs=3, constants=constants, num_heads=heads, kv_num_heads=groups, do_rotary=int(rotary), **attributes)

    query("Prompt", 5, None, [4, 4], 5)
    query("PromptRotary", 5, None, [4, 4], 5, rotary=True)
    query("Packed", 5, None, [4, 4], 5, packed=True, rotary=True, rotary_interleaved=1)
    query("Step", 1, 6, [6, 6], 7, rotary=True)
    query("StepRoom", 1, 9, [6, 4], 7, rotary=True)
    query("Window", 6, None, [5, 5], 6, local_window_size=3)
    query("Cap", 4, None, [3, 3], 4, softcap=2.0, scale=0.7)
    query("Smooth", 4, None, [3, 3], 4, smooth_softmax=1)
    query("Sink", 4, None, [3, 3], 4, sink=r.floats(heads))
    query("Bias", 4, None, [3, 3], 4, bias=r.floats(2, heads, 4, 4))


def addQuantized():
    r = Random(6)

    def number(value, dtype=np.float32):
        return np.array(value, dtype)

    def bytes_(*shape, dtype=np.uint8):
        return r.ints(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, *shape, dtype=dtype)

    x, s, z = bytes_(2, 3, 5), number(0.03), number(110, np.uint8)
    y, t, u = bytes_(3, 5), number(0.02), number(140, np.uint8)
    out = [number(0.05), number(120, np.uint8)]
    record("QLinearAdd", "QLinearAdd", [x, s, z, y, t, u, *out], types=[UINT8])
    record("QLinearMul", "QLinearMul", [x, s, z, y, t, u, *out], types=[UINT8])
    signed = bytes_(2, 7, dtype=np.int8)
    record("QLinearAddSigned", "QLinearAdd", [signed, s, number(-3, np.int8), signed[:1], t, number(5, np.int8), number(0.05), number(4, np.int8)], types=[INT8])
    record("QLinearConcat", "QLinearConcat", [*out, x, s, z, bytes_(2, 2, 5), t, u], types=[UINT8], axis=1)
    image = bytes_(1, 3, 5, 7)
    record("QLinearGlobalAveragePool", "QLinearGlobalAveragePool", [image, s, z, *out], types=[UINT8])
    record("QLinearGlobalAveragePoolLast", "QLinearGlobalAveragePool", [image, s, z, *out], types=[UINT8], channels_last=1)
    record("QLinearAveragePool", "QLinearAveragePool", [image, s, z, *out], types=[UINT8], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], count_include_pad=1)
    for operator, extra in (("QLinearSigmoid", {}), ("QLinearLeakyRelu", {"alpha": 0.2})):
        record(operator, operator, [x, s, z, number(0.01), number(20, np.uint8)], types=[UINT8], **extra)
    record("QLinearSoftmax", "QLinearSoftmax", [x, s, z, number(1 / 256), number(0, np.uint8)], constants=(1, 2, 3, 4), types=[UINT8], axis=-1, opset=13)
    record("QLinearSoftmaxOld", "QLinearSoftmax", [x, s, z, number(1 / 256), number(0, np.uint8)], constants=(1, 2, 3, 4), types=[UINT8], axis=1, opset=11)
    record("QLinearWhere", "QLinearWhere", [r.ints(0, 2, 3, 5).astype(bool), x, s, z, y, t, u, *out], constants=(2, 3, 5, 6, 7, 8), types=[UINT8])
    a, b = bytes_(3, 7), bytes_(7, 5, dtype=np.int8)
    columns = [r.floats(5, low=0.01, high=0.02), np.zeros(5, np.int8)]
    record("QGemm", "QGemm", [a, s, z, b, t, number(3, np.int8), r.ints(-99, 99, 5), number(0.5), number(100, np.uint8)], constants=(3, 4, 5), types=[UINT8])
    record("QGemmFloat", "QGemm", [a, s, z, b.T.copy(), *columns, None, None, None], constants=(3, 4, 5), transB=1, alpha=0.5)
    record("DynamicQuantizeMatMul", "DynamicQuantizeMatMul", [r.floats(2, 3, 7), b, *columns, r.floats(5)], constants=(1, 2, 3, 4), atol=1e-3)
    record("DynamicQuantizeMatMulPlain", "DynamicQuantizeMatMul", [r.floats(3, 7), b, t], constants=(1, 2), atol=1e-3)
    record("MatMulIntegerToFloat", "MatMulIntegerToFloat", [a, b, s, columns[0], z, None, r.floats(5)], constants=(1,))


def _forest(r, trees, depth, modes, targets, perLeaf, positive=False, targetOf=None):
    """With `targetOf`, a number for each tree, all of its leaves add to that target, or to none where it is None."""
    nodes = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}
    g = r.generator

    def build(tree, left, counter):
        number, place = counter[0], len(nodes["treeids"])
        counter[0] += 1
        isLeaf = left == 0 or (left < depth and g.random() < 0.2)
        row = (tree, number, int(g.integers(4)), round(float(g.uniform(-1, 1)), 3), "LEAF" if isLeaf else str(g.choice(modes)), 0, 0, int(g.integers(2)))
        for key, value in zip(nodes, row):
            nodes[key].append(value)
        if isLeaf:
            own = g.choice(targets, size=perLeaf, replace=False) if targetOf is None else [t for t in [targetOf[tree]] if t is not None]
            for target in own:
                weight = round(float(g.uniform(0 if positive else -1, 1)), 3)
                for key, value in zip(leaves, (tree, number, int(target), weight)):
                    leaves[key].append(value)
            return number
        nodes["truenodeids"][place] = build(tree, left - 1, counter)
        nodes["falsenodeids"][place] = build(tree, left - 1, counter)
        return number

    for tree in range(trees):
        build(tree, depth, [0])
    return {"nodes_" + key: value for key, value in nodes.items()}, leaves


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def addTrees():
    r = Random(7)
    x = r.floats(7, 4)
    x[2, 1] = x[4, 0] = np.nan
    ml = {"domain": "ai.onnx.ml"}
    for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
        for targets, perLeaf in ((1, 1), (3, 3)):
            nodes, leaves = _forest(r, 4, 3, MODES, targets, perLeaf)
            record(f"TreeRegressor{aggregate}{targets}", "TreeEnsembleRegressor", [x], n_targets=targets, aggregate_function=aggregate, base_values=r.list(targets), **ml, **nodes, **{"target_" + key: value for key, value in leaves.items()})
    # Many targets, of which a leaf has one.
    nodes, leaves = _forest(r, 45, 1, MODES[:1], 60, 1)
    record("TreeRegressorMany", "TreeEnsembleRegressor", [x], n_targets=60, **ml, **nodes, **{"target_" + key: value for key, value in leaves.items()})
    for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        for positive in (False, True):
            for classes, labels in ((1, [0, 1]), (3, [2, 5, 7])):
                nodes, leaves = _forest(r, 4, 3, MODES, classes, classes, positive)
                record(f"TreeClassifier{transform}{classes}{positive}", "TreeEnsembleClassifier", [x], outputs=2, types=[INT64], classlabels_int64s=labels, post_transform=transform, **ml, **nodes, **{"class_" + key: value for key, value in leaves.items()})
    # Trees that add to one score each: as many a score, or not.
    r = Random(17)
    for number, targetOf in enumerate(([0, 1, 2, 0, 1, 2], [2, 0, 2, 1, 0, None, 2, 1, 1, 1])):
        for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
            nodes, leaves = _forest(r, len(targetOf), 3, MODES, 3, 1, targetOf=targetOf)
            record(f"TreeEach{aggregate}{number}", "TreeEnsembleRegressor", [x], n_targets=3, aggregate_function=aggregate, **ml, **nodes, **{"target_" + key: value for key, value in leaves.items()})
        nodes, leaves = _forest(r, len(targetOf), 3, MODES, 3, 1, targetOf=targetOf)
        record(f"TreeEachClass{number}", "TreeEnsembleClassifier", [x], outputs=2, types=[INT64], classlabels_int64s=[2, 5, 7], post_transform="SOFTMAX", **ml, **nodes, **{"class_" + key: value for key, value in leaves.items()})


def addModels():
    r = Random(8)
    x = r.floats(7, 5)
    ml = {"domain": "ai.onnx.ml"}
    for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        record("LinearRegressor" + transform, "LinearRegressor", [x], coefficients=r.list(10), intercepts=r.list(2), targets=2, post_transform=transform, **ml)
        record("LinearClassifier" + transform, "LinearClassifier", [x], outputs=2, types=[INT64], coefficients=r.list(15), intercepts=r.list(3), classlabels_ints=[3, 5, 9], post_transform=transform, **ml)
        record("LinearClassifierPair" + transform, "LinearClassifier", [x], outputs=2, types=[INT64], coefficients=r.list(5), intercepts=r.list(1), classlabels_ints=[3, 5], post_transform=transform, **ml)
    record("LinearRegressorProbit", "LinearRegressor", [r.floats(5, 2, low=0.1, high=0.4)], coefficients=[1.0, 0.5], intercepts=[0.1], post_transform="PROBIT", **ml)
    vectors = r.list(40)
    for kernel, params in (("LINEAR", [0.0, 0.0, 0.0]), ("RBF", [0.3, 0.0, 0.0]), ("POLY", [0.5, 0.2, 3.0]), ("SIGMOID", [0.2, 0.1, 0.0])):
        common = {"support_vectors": vectors, "kernel_type": kernel, "kernel_params": params, **ml}
        record("SvmRegressor" + kernel, "SVMRegressor", [x], coefficients=r.list(8), n_supports=8, rho=r.list(1), **common)
        record("SvmOneClass" + kernel, "SVMRegressor", [x], coefficients=r.list(8), n_supports=8, rho=r.list(1), one_class=1, **common)
        record("SvmClassifier" + kernel, "SVMClassifier", [x], outputs=2, types=[INT64], coefficients=r.list(16), vectors_per_class=[3, 3, 2], rho=r.list(3), classlabels_ints=[2, 5, 7], **common)
        record("SvmPair" + kernel, "SVMClassifier", [x], outputs=2, types=[INT64], coefficients=r.list(8), vectors_per_class=[5, 3], rho=r.list(1), classlabels_ints=[2, 5], post_transform="LOGISTIC", **common)
    # Libsvm's probabilities are approximate, within 0.005 / classes.
    record("SvmProbabilities", "SVMClassifier", [x], outputs=2, types=[INT64], coefficients=r.list(16), vectors_per_class=[3, 3, 2], rho=r.list(3), classlabels_ints=[2, 5, 7], prob_a=r.list(3), prob_b=r.list(3), atol=0.003, support_vectors=vectors, kernel_type="RBF", kernel_params=[0.3, 0.0, 0.0], **ml)


def addFeatures():
    r = Random(9)
    x = r.floats(4, 5)
    missing = x.copy()
    missing[1, 2] = missing[3, 4] = np.nan
    small = r.ints(0, 6, 4, 3, dtype=np.int64)
    ml = {"domain": "ai.onnx.ml"}
    record("Scaler", "Scaler", [x], offset=r.list(5), scale=r.list(5), **ml)
    record("ScalerOne", "Scaler", [x], offset=r.list(1), scale=r.list(1), **ml)
    for norm in ("MAX", "L1", "L2"):
        record("Normalizer" + norm, "Normalizer", [np.abs(x)], norm=norm, **ml)
    record("Binarizer", "Binarizer", [x], threshold=0.2, **ml)
    record("Imputer", "Imputer", [missing], imputed_value_floats=r.list(5), replaced_value_float=float("nan"), **ml)
    record("ImputerInts", "Imputer", [small], types=[INT64], imputed_value_int64s=[7, 8, 9], replaced_value_int64=1, **ml)
    record("ArrayFeatureExtractor", "ArrayFeatureExtractor", [x, np.array([3, 1], np.int64)], **ml)
    record("ArrayFeatureExtractorRow", "ArrayFeatureExtractor", [x[0], np.array([[3, 1, 4]], np.int64)], **ml)
    record("FeatureVectorizer", "FeatureVectorizer", [x, x[:, :2]], inputdimensions=[5, 2], **ml)
    record("OneHotEncoder", "OneHotEncoder", [small], cats_int64s=[1, 3, 5], **ml)
    record("LabelEncoderFloats", "LabelEncoder", [small], keys_int64s=[5, 1, 3], values_floats=[0.5, 0.1, 0.3], default_float=-2.0, **ml)
    record("LabelEncoderInts", "LabelEncoder", [small], types=[INT64], keys_int64s=[5, 1, 3], values_int64s=[50, 10, 30], default_int64=-2, **ml)
    record("LabelEncoderKeys", "LabelEncoder", [np.array([1.5, 2.5, 7], np.float32)], types=[INT64], keys_floats=[2.5, 1.5], values_int64s=[50, 10], default_int64=-2, **ml)


def addSampling():
    r = Random(10)
    plain = {"domain": ""}
    image, volume = r.floats(2, 3, 5, 7), r.floats(1, 2, 3, 5, 4)
    places, deep = r.floats(2, 3, 4, 2, low=-1.4, high=1.4), r.floats(1, 2, 3, 3, 3, low=-1.4, high=1.4)
    for padding in ("zeros", "border", "reflection"):
        for align in (0, 1):
            for mode in ("linear", "nearest", "cubic"):
                record(f"GridSample{mode}{padding}{align}", "GridSample", [image, places], mode=mode, padding_mode=padding, align_corners=align, **plain)
        record(f"GridSampleVolume{padding}", "GridSample", [volume, deep], mode="linear", padding_mode=padding, **plain)
    rois, batches = np.array([[0, 0, 6, 4], [1.2, -1, 3.4, 9], [2, 2, 2.1, 2.2], [-3, 1, 12, 3]], np.float32), np.array([0, 1, 1, 0], np.int64)
    for mode in ("avg", "max"):
        for corners in ("half_pixel", "output_half_pixel"):
            for samples in (0, 2):
                record(f"RoiAlign{mode}{corners}{samples}", "RoiAlign", [image, rois, batches], mode=mode, coordinate_transformation_mode=corners, sampling_ratio=samples, output_height=3, output_width=2, spatial_scale=0.8, **plain)
    boxes = np.concatenate([batches[:, None].astype(np.float32), rois], 1)
    record("MaxRoiPool", "MaxRoiPool", [image, boxes], pooled_shape=[3, 2], spatial_scale=0.75, **plain)
    record("DeformConv", "DeformConv", [r.floats(2, 4, 6, 5), r.floats(6, 2, 3, 2), r.floats(2, 24, 3, 3, low=-2, high=2), r.floats(6), r.floats(2, 12, 3, 3)], group=2, offset_group=2, strides=[2, 1], pads=[1, 0, 1, 0], dilations=[1, 2], **plain)
    line, solid = r.floats(2, 3, 9), r.floats(1, 2, 4, 5, 6)
    for order in (0, 1):
        record(f"MaxPoolIndices{order}", "MaxPool", [image], outputs=2, types=[1, INT64], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], storage_order=order, **plain)
        record(f"MaxPoolIndicesSolid{order}", "MaxPool", [solid], outputs=2, types=[1, INT64], kernel_shape=[2, 2, 3], dilations=[1, 2, 1], ceil_mode=1, strides=[2, 1, 2], storage_order=order, **plain)
    record("MaxPoolIndicesLine", "MaxPool", [line], outputs=2, types=[1, INT64], kernel_shape=[3], auto_pad="SAME_UPPER", strides=[2], **plain)


def _transform(x, axis=1, length=None, inverse=False, onesided=False):
    signal = x[..., 0].astype(np.float64) + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    result = (np.fft.ifft if inverse else np.fft.fft)(signal, n=length, axis=axis)
    if onesided:
        result = result.take(range(result.shape[axis] // 2 + 1), axis)
    return [np.stack([result.real, result.imag], -1).astype(np.float32)]


def addSignals():
    r = Random(11)
    plain = {"domain": ""}
    dft = {"domain": "", "atol": 2e-5}
    # Whole matrices, two factors, three, a prime, a prime as a factor.
    for length in (7, 63, 96, 210, 67, 134):
        x = r.floats(1, length, 1)
        record(f"Dft{length}", "DFT", [x], values=_transform(x), **dft)
    first, x, y, z = np.array(1, np.int64), r.floats(1, 70, 2, 2), r.floats(1, 75, 1), r.floats(1, 75, 2)
    record("DftInverse", "DFT", [x, None, first], constants=(2,), inverse=1, values=_transform(x, inverse=True), **dft)
    record("DftOneSided", "DFT", [y], onesided=1, values=_transform(y, onesided=True), **dft)
    record("DftLength", "DFT", [z, np.array(128, np.int64)], constants=(1,), values=_transform(z, length=128), **dft)
    record("DftCut", "DFT", [z, np.array(11, np.int64)], constants=(1,), values=_transform(z, length=11), **dft)
    record("DftAxis", "DFT", [x, None, first], values=_transform(x), **dft)
    record("Stft", "STFT", [r.floats(1, 250, 1), np.array(40, np.int64), r.floats(128), np.array(128, np.int64)], constants=(1, 3), atol=1e-4, **plain)
    record("MelWeightMatrix", "MelWeightMatrix", [np.array(9, np.int64), np.array(64, np.int64), np.array(8000, np.int64), np.array(20.0, np.float32), np.array(4000.0, np.float32)], constants=(0, 1), **plain)


def addOrders():
    r = Random(12)
    plain = {"domain": ""}
    x = r.ints(-9, 9, 3, 40, 2).astype(np.float32)
    for count in (0, 1, 7, 40):
        for largest in (0, 1):
            record(f"TopK{count}of40{largest}", "TopK", [x, np.array([count], np.int64)], outputs=2, types=[1, INT64], constants=(1,), axis=1, largest=largest, **plain)
    record("TopKInts", "TopK", [r.ints(-99, 99, 5, 11, dtype=np.int64), np.array([4], np.int64)], outputs=2, types=[INT64, INT64], constants=(1,), **plain)
    record("TopKAtRunTime", "TopK", [r.floats(5, 11), np.array([4], np.int64)], outputs=2, types=[1, INT64], **plain)
    for size in (1, 2, 5, 8):
        record(f"Det{size}", "Det", [r.floats(2, 3, size, size)], **plain)
    record("DetSingular", "Det", [np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], np.float32)], **plain)
    scores, boxes = r.floats(2, 3, 20, low=0, high=1), np.sort(r.floats(2, 20, 2, 2, low=0, high=3), axis=2).reshape(2, 20, 4)
    limits = [np.array([5], np.int64), np.array([0.3], np.float32), np.array([0.4], np.float32)]
    record("NonMaxSuppression", "NonMaxSuppression", [boxes, scores, *limits], types=[INT64], **plain)
    record("NonMaxSuppressionCenters", "NonMaxSuppression", [boxes, scores, *limits[:2]], types=[INT64], center_point_box=1, **plain)
    tokens = r.ints(0, 5, 3, 12, dtype=np.int64)
    pool = [0, 1, 2, 3, 0, 1, 2, 2, 3, 0, 1, 2, 3, 4, 0, 1]
    for mode, weights in (("TF", {}), ("IDF", {}), ("TFIDF", {"weights": r.list(9)})):
        record("Ngrams" + mode, "TfIdfVectorizer", [tokens], mode=mode, min_gram_length=1, max_gram_length=3, max_skip_count=2, ngram_counts=[0, 4, 10], ngram_indexes=[2, 0, 1, 3, 6, 5, 4, 7, 8], pool_int64s=pool, **weights, **plain)


def main():
    onnxruntime.set_default_logger_severity(4)
    for add in (addProducts, addActivations, addNorms, addAttention, addGroupAttention, addQuantized, addTrees, addModels, addFeatures, addSampling, addSignals, addOrders):
        add()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "recorded.json")
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(entry) for entry in RECORDS) + "\n]\n")
    print(f"{len(RECORDS)} cases")


if __name__ == "__main__":
    main()
