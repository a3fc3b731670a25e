//===- LaunchNamesTests.cpp - short names of fused kernels -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/LaunchNames.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("nodes that the model names keep their names") {
  CHECK(nameLaunch("conv1", "w1", "") == "conv1");
  CHECK(nameLaunch("conv2 + norm2 + relu2", "w2 (folded, packed)", "") == "conv2 +norm2 +relu2");
  CHECK(nameLaunch("softmax + gemm", "b3", "") == "softmax +gemm");
  CHECK(nameLaunch("dense", "encoder.dense.weight", "encoder.dense") == "dense");
}

TEST_CASE("what paths share is said once") {
  CHECK(nameLaunch("/layer1/layer1.0/conv3/Conv + /layer1/layer1.0/Add + /layer1/layer1.0/relu_2/Relu", "", "") ==
        "layer1/layer1.0/conv3/Conv +Add +relu_2");
  CHECK(nameLaunch("model.layers.0.mlp.gate_proj + model.layers.0.mlp.act_fn", "", "") ==
        "model.layers.0.mlp.gate_proj +act_fn");
  CHECK(nameLaunch("encoder.layer.0.output.dense + encoder.layer.0.output", "", "") == "encoder.layer.0.output.dense");
}

TEST_CASE("of much that is fused the last parts are shown") {
  CHECK(nameLaunch("a + b + c + d + e", "", "") == "a ... +c +d +e");
  CHECK(nameLaunch("/x/a/Conv + /x/b/Add + /x/b/Mul", "", "") == "x/a/Conv +b");
}

TEST_CASE("a name that an exporter made up gives way to the place, or to the module of the weight") {
  std::string nodes =
      "node_MatMul_84 + node_linear_4 + node_Div_86 + node_Erf_87 + node_Add_89 + node_Mul_91 + node_gelu";
  CHECK(nameLaunch(nodes, "encoder.layer.0.intermediate.dense.weight (packed)", "") ==
        "encoder.layer.0.intermediate.dense +gelu");
  CHECK(nameLaunch(nodes, "val_7", "encoder.layer.0.intermediate.dense") == "encoder.layer.0.intermediate.dense +gelu");
  CHECK(nameLaunch(nodes, "onnx::MatMul_117", "") == "node_MatMul_84 +gelu");
  CHECK(nameLaunch("Conv_3 + Relu_4", "features.0.weight", "") == "features.0 +relu");
}

TEST_CASE("names that exporters make up") {
  for (const char *name : {"node_MatMul_84", "node_gelu", "val_7", "Conv_3", "117"})
    CHECK(isExporterName(name));
  for (const char *name : {"conv1", "relu_2", "/layer1/Conv", "gemm", "Conv", "model.layers.0"})
    CHECK_FALSE(isExporterName(name));
}

TEST_CASE("the module of a weight") {
  CHECK(getModuleOfWeight("encoder.dense.weight") == "encoder.dense");
  CHECK(getModuleOfWeight("encoder.dense.weight (folded, packed)") == "encoder.dense");
  CHECK(getModuleOfWeight("/encoder/dense/kernel") == "encoder/dense");
  CHECK(getModuleOfWeight("w1") == "");
  CHECK(getModuleOfWeight("onnx::Conv_3.x") == "");
}
