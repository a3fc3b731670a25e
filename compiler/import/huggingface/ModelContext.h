//===- ModelContext.h - what the description of an architecture works with ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_MODELCONTEXT_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_MODELCONTEXT_H

#include "compiler/graph/Graph.h"
#include "compiler/import/InputShapes.h"
#include "compiler/import/huggingface/Checkpoint.h"
#include "compiler/import/huggingface/Config.h"
#include "compiler/import/huggingface/Pooling.h"
#include "compiler/import/huggingface/Quantization.h"

namespace tenon::huggingface {

using graph::Dim;
using graph::Graph;
using graph::Tensor;

using Activation = Tensor (*)(const Tensor &);
/// The function that a field of the config names; null where it is not known, which has been reported.
Activation readActivation(const Config &config, const std::string &key, const std::string &otherwise);

/// The matrix [out, in] of a product, and in what order it wants the features of `in`; empty where that is their own.
struct QuantizedMatrix {
  Tensor matrix, order = {};
};

/// The graph under construction, and where its numbers come from. Weights are named below a prefix, as in the
/// checkpoint: `m.linear(x, "attention.q_proj", out)` reads "model.layers.0.attention.q_proj.weight" inside
/// of the scopes "model", "layers.0". A weight that cannot be had gives an empty tensor, and all of them are
/// reported in the end.
class ModelContext {
public:
  ModelContext(Graph &graph, const Config &config, Checkpoint &checkpoint, InputShapes &inputShapes)
      : graph(graph), config(config), checkpoint(checkpoint), inputShapes(inputShapes) {}

  Graph &graph;
  const Config &config;
  Checkpoint &checkpoint;
  /// What an encoder's tokens become in the end, where the folder says so.
  std::optional<Pooling> pooling;
  Quantization quantization;
  /// Tokens whose keys and values a decoder keeps from run to run; 0: none, each run has a whole text.
  int64_t context = 0;
  graph::DType contextType = graph::DType::f32; ///< in which they are kept

  /// While it lives, weights have this prefix, after those around it, and operations its name.
  class Scope {
  public:
    Scope(ModelContext &model, const std::string &name);
    ~Scope() { model.prefix.resize(before); }
    Scope(const Scope &) = delete;

  private:
    ModelContext &model;
    size_t before;
    Graph::Scope graphScope;
  };

  //===--- Checks of the config

  /// Reports where there cannot be as many layers, each with weights of its own.
  void checkLayers(int64_t layers);
  /// Reports where heads do not divide the features.
  void checkHeads(int64_t hidden, int64_t heads);
  bool hasFaults() const { return config.getReport().hasFaults(); }

  //===--- Inputs

  /// Integers of shape [batch, length]. All inputs of a model are declared in one call.
  llvm::SmallVector<Tensor, 4> tokenInputs(llvm::ArrayRef<std::string> names);
  /// An input as a model declares it: names and extents of its dimensions, which options may change.
  struct Input {
    std::string name;
    std::vector<DeclaredDim> shape;
    graph::DType type;
  };
  /// All inputs of a model, in one call.
  llvm::SmallVector<Tensor, 4> inputs(llvm::ArrayRef<Input> declared);

  //===--- Weights

  /// Widened or narrowed to f32, in which everything is computed.
  Tensor weight(const std::string &name, llvm::ArrayRef<int64_t> shape);
  bool hasWeight(const std::string &name) const { return checkpoint.contains(prefix + name); }
  /// Below the current prefix, in the type that the file has: bytes of `dtype`, as the format calls it; floats.
  /// Nothing, or an empty tensor, where they cannot be had.
  std::optional<llvm::ArrayRef<char>> storedBytes(const std::string &name, llvm::ArrayRef<int64_t> shape,
                                                  llvm::StringRef dtype) {
    return checkpoint.getBytes(prefix + name, shape, dtype);
  }
  Tensor storedWeight(const std::string &name, llvm::ArrayRef<int64_t> shape);
  /// A weight of elements that are made of those of the file.
  Tensor weightOf(const std::string &name, mlir::ElementsAttr elements) {
    return graph.weight(prefix + name, elements);
  }
  /// The matrix of the current prefix, which is quantized if the checkpoint has it so.
  QuantizedMatrix matrix(int64_t in, int64_t out);
  /// As many rows as `name`.weight has: the labels of a classifier, which configs do not always count.
  int64_t countOutputs(const std::string &name) const { return checkpoint.countRows(prefix + name + ".weight"); }
  /// `name`.weight is [out, in].
  Tensor linear(const Tensor &x, const std::string &name, int64_t in, int64_t out, bool hasBias);
  /// Over the last dimension, of `size`.
  Tensor layerNorm(const Tensor &x, const std::string &name, int64_t size, double epsilon);
  Tensor rmsNorm(const Tensor &x, const std::string &name, int64_t size, double epsilon);
  /// activation(gate_proj(x)) * up_proj(x), and down_proj of that; the three lie below `name`.
  Tensor gated(const Tensor &x, const std::string &name, int64_t hidden, int64_t intermediate, Activation activation,
               bool hasBias);
  /// The rows of `name`.weight, [count, width], that the ids say.
  Tensor embedding(const Tensor &ids, const std::string &name, int64_t count, int64_t width);
  /// How many tokens of the text came in earlier runs: an open dimension where there is a context, else 0.
  Dim getPast() { return context ? graph.symbol("past") : Dim(0); }
  /// x, [batch, heads, length, size], behind what earlier runs had of it: [batch, heads, past + length, size]. The same
  /// without a context.
  Tensor keep(const Tensor &x, const std::string &name);
  /// The vectors of the tokens whose logits are asked for: x, [batch, length, width], or with a context the last one,
  /// as [batch, width].
  Tensor takeAsked(const Tensor &x);

  /// Rows from `getPast()` on of a table of learned positions: [length, width]. A run that is longer is refused.
  Tensor positions(const Dim &length, const std::string &name, int64_t count, int64_t width);
  /// Refuses texts that are longer than the `count` positions that `name` has for them.
  void requireLength(const Dim &length, const std::string &name, int64_t count);

  /// Reports what is wrong with the matrix of the current prefix.
  void refuseMatrix(const llvm::Twine &text) { refuse(llvm::StringRef(prefix).drop_back() + ": " + text); }

private:
  void refuse(const llvm::Twine &text) { config.getReport().add(ImportFault::invalidModel, text); }

  InputShapes &inputShapes;
  std::string prefix;
};

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// The vector of the first token: [batch, length, width] -> [batch, width].
Tensor takeFirst(const Tensor &x);
/// [batch, length, heads * size] -> [batch, heads, length, size], and back.
Tensor splitHeads(const Tensor &x, int64_t heads);
Tensor mergeHeads(const Tensor &x);
/// Reports where heads cannot share keys, or have features without a pair to rotate with.
void checkKeyHeads(const Config &config, int64_t heads, int64_t keyHeads, int64_t headSize);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_MODELCONTEXT_H
