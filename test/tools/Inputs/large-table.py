# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""large-table.py FILE.onnx: a model of n indices that sums rows of a table of more than a gigabyte, which it keeps in a
sparse file beside it. n is a multiple of 16."""
import os
import sys

import onnx
from onnx import TensorProto, helper

ROWS, COLUMNS = 1100, 1 << 20
path = sys.argv[1]
table = TensorProto(name="table", data_type=TensorProto.INT8, dims=[ROWS, COLUMNS], data_location=TensorProto.EXTERNAL)
data = os.path.basename(path) + ".data"
for key, value in (("location", data), ("offset", "0"), ("length", str(ROWS * COLUMNS))):
    table.external_data.add(key=key, value=value)
with open(path + ".data", "wb") as file:
    file.write(bytes(range(1, 100)))
    file.truncate(ROWS * COLUMNS)
nodes = [helper.make_node("Gather", ["table", "indices"], ["bytes"]),
         helper.make_node("Cast", ["bytes"], ["rows"], to=TensorProto.FLOAT),
         helper.make_node("ReduceSum", ["rows", "axis"], ["sums"], keepdims=0),
         helper.make_node("Reshape", ["sums", "shape"], ["blocks"])]
graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("indices", TensorProto.INT64, ["n"])],
                          [helper.make_tensor_value_info("blocks", TensorProto.FLOAT, ["blocks", 16])],
                          [table, helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
                           helper.make_tensor("shape", TensorProto.INT64, [2], [-1, 16])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
