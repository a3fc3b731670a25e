//===- Classifier.cpp - a small network in C++, compiled to an artifact ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// usage: tenon-graph-example FILE.tenon
//
// Writes an artifact with the input `points`, [batch, 2], and the output `probabilities`, [batch, 3], which
// any number of points can be given to:
//
//   tenon-run FILE.tenon --input points=points.npy --output probabilities=probabilities.npy

#include "compiler/driver/Compile.h"
#include "compiler/graph/Graph.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon::graph;

static mlir::OwningOpRef<mlir::ModuleOp> buildClassifier(mlir::MLIRContext *context) {
  Graph g(context, "classifier");
  Dim batch = g.symbol("batch");
  Tensor points = g.input("points", {batch, 2});

  Tensor hidden;
  {
    Graph::Scope scope(g, "hidden");
    Tensor weight = g.weight("hidden.weight", {4, 2}, {1, 0.5, -1, 0.25, 0.75, -0.5, -0.25, 1});
    Tensor bias = g.weight("hidden.bias", {4}, {0, 0.125, -0.5, 1});
    hidden = gelu(linear(points, weight, bias));
  }
  Graph::Scope scope(g, "head");
  Tensor weight = g.weight("head.weight", {3, 4}, {1, 0, -1, 0.5, 0, 2, 0.5, -1, -0.5, 0.25, 1, 1});
  g.output("probabilities", softmax(linear(hidden, weight) * 0.5, -1));
  return g.finish();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: tenon-graph-example FILE.tenon\n";
    return 2;
  }
  tenon::CompileOptions options;
  options.input = "classifier";
  options.output = argv[1];
  options.build = buildClassifier;
  return static_cast<int>(tenon::compileModel(options, llvm::errs()));
}
