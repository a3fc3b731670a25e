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
#include "compiler/import/huggingface/TokenRules.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::huggingface {

using graph::Dim;
using graph::Graph;
using graph::Tensor;

using Activation = Tensor (*)(const Tensor &);
/// Returns the activation function that a field names; null, after an error, if it is unknown.
Activation readActivation(const Config &config, const std::string &key, const std::string &otherwise);

/// A matrix [out, in], and the order in which it expects the features of `in`; empty for the natural order.
struct QuantizedMatrix {
  Tensor matrix, order = {};
};

/// The graph under construction, and the source of its weights. Weights are named below a prefix, as in the checkpoint:
/// `m.linear(x, "attention.q_proj", out)` reads "model.layers.0.attention.q_proj.weight" inside of the scopes "model",
/// "layers.0". A missing weight yields an empty tensor, and all missing ones are reported at the end.
class ModelContext {
public:
  ModelContext(Graph &graph, const Config &config, Checkpoint &checkpoint, InputShapes &inputShapes)
      : graph(graph), config(config), checkpoint(checkpoint), inputShapes(inputShapes) {}

  Graph &graph;
  const Config &config;
  Checkpoint &checkpoint;
  /// The pooling of an encoder's tokens, if the folder configures one.
  std::optional<Pooling> pooling;
  Quantization quantization;
  /// The number of tokens whose keys and values a decoder keeps between runs; with 0, each run has a whole text.
  int64_t context = 0;
  graph::DType contextType = graph::DType::f32; ///< in which they are kept
  /// Tokens that are not sampled, of a model with a context.
  TokenRules tokenRules;
  /// The runs of a model with a context that the program is for: any; those that go on with a text and take nothing but
  /// its tokens, while other inputs belong to its first run; of these, those with a single token.
  enum class Runs { any, later, single };
  Runs runs = Runs::any;
  /// The number of sequences in a run of a model with a context, each of which has its own past: the batch.
  int64_t numSequences = 1;

  /// During its lifetime, weights have this prefix, after those of outer scopes, and operations its name.
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

  /// Reports an error if the number of layers, each with weights of its own, is implausible.
  void checkLayers(int64_t layers);
  /// Reports where heads do not divide the features.
  void checkHeads(int64_t hidden, int64_t heads);
  bool hasFaults() const { return config.getReport().hasFaults(); }

  //===--- Inputs

  /// Declares integer inputs of shape [batch, length]. All inputs of a model are declared in one call.
  llvm::SmallVector<Tensor, 4> tokenInputs(llvm::ArrayRef<std::string> names);
  /// An input declaration: the names and extents of its dimensions, which options may change.
  struct Input {
    std::string name;
    std::vector<DeclaredDim> shape;
    graph::DType type;
  };
  /// All inputs of a model, in one call.
  llvm::SmallVector<Tensor, 4> inputs(llvm::ArrayRef<Input> declared);
  /// Returns the declaration of an integer input of shape [batch, length].
  Input declareTokens(const std::string &name) const;
  /// Returns the declaration of an input of the first run of a text, of shape [1, ...shape] there. In later runs, its
  /// first dimension is 0.
  Input declareForFirstRun(const std::string &name, llvm::ArrayRef<int64_t> shape, graph::DType type) const;
  /// Requires of a run with a context that it has tokens.
  void requireTokens(const Tensor &ids);

  //===--- Weights

  /// Returns a weight converted to f32, in which everything is computed.
  Tensor weight(const std::string &name, llvm::ArrayRef<int64_t> shape);
  bool hasWeight(const std::string &name) const { return checkpoint.contains(prefix + name); }
  /// Returns the bytes of a weight under the current prefix with the file's `dtype`, or its elements in the file's
  /// floating-point type. None, or an empty tensor, if it is missing.
  std::optional<llvm::ArrayRef<char>> storedBytes(const std::string &name, llvm::ArrayRef<int64_t> shape,
                                                  llvm::StringRef dtype) {
    return checkpoint.getBytes(prefix + name, shape, dtype);
  }
  Tensor storedWeight(const std::string &name, llvm::ArrayRef<int64_t> shape);
  /// Creates a weight from elements that were computed from those of the file.
  Tensor weightOf(const std::string &name, mlir::ElementsAttr elements) {
    return graph.weight(prefix + name, elements);
  }
  /// Returns the matrix of the current prefix, which is quantized if the checkpoint stores it so.
  QuantizedMatrix matrix(int64_t in, int64_t out);
  /// Returns the number of rows of `name`.weight, such as the labels of a classifier, which configs do not always
  /// specify.
  int64_t countOutputs(const std::string &name) const { return checkpoint.countRows(prefix + name + ".weight"); }
  /// `name`.weight is [out, in].
  Tensor linear(const Tensor &x, const std::string &name, int64_t in, int64_t out, bool hasBias);
  /// Over the last dimension, of `size`.
  Tensor layerNorm(const Tensor &x, const std::string &name, int64_t size, double epsilon);
  Tensor rmsNorm(const Tensor &x, const std::string &name, int64_t size, double epsilon);
  /// Gated MLP: down_proj(activation(gate_proj(x)) * up_proj(x)); the three weights are under `name`.
  Tensor gated(const Tensor &x, const std::string &name, int64_t hidden, int64_t intermediate, Activation activation,
               bool hasBias);
  /// Returns the rows of `name`.weight, [count, width], for the ids.
  Tensor embedding(const Tensor &ids, const std::string &name, int64_t count, int64_t width);
  /// Calls `body` for each sequence of a run, which is then the current one.
  void forEachSequence(llvm::function_ref<void()> body);
  /// Builds what depends on the past of a sequence, once for each: `body` maps the parts of `batches`, whose first
  /// dimension is the batch, to a part of the result. With a single sequence, it maps the whole.
  Tensor forSequences(llvm::ArrayRef<Tensor> batches, llvm::function_ref<Tensor(llvm::ArrayRef<Tensor> parts)> body);
  /// The current sequence; 0 outside of these two.
  int64_t getSequence() const { return sequence; }
  /// Returns the number of tokens in earlier runs of the current sequence: a dynamic dimension with a context,
  /// otherwise 0.
  Dim getPast() { return context ? graph.symbol(withSequence("past")) : Dim(0); }
  /// Appends x, [1, heads, length, size], to the current sequence's cache of earlier runs, and returns all of it: [1,
  /// heads, past + length, size]. Without a context, returns x, [batch, heads, length, size].
  Tensor keep(const Tensor &x, const std::string &name);
  /// Returns what the first run of a text computes and keeps, with a context, for the later ones: an f32 tensor of this
  /// shape. `make` is called if that is computed in this run.
  Tensor keepOfFirstRun(const std::string &name, llvm::ArrayRef<int64_t> shape, llvm::function_ref<Tensor()> make);
  /// Returns the vectors of the tokens whose logits are requested: x, [batch, length, width], or with a context the
  /// last one, as [batch, width].
  Tensor takeAsked(const Tensor &x);

  /// Returns rows from `getPast()` on of a table of learned positions: [length, width], or for several sequences
  /// [batch, length, width]. A longer run fails.
  Tensor positions(const Dim &length, const std::string &name, int64_t count, int64_t width);
  /// Rejects texts that are longer than the `count` positions of `name`.
  void requireLength(const Dim &length, const std::string &name, int64_t count);

  /// Reports an error in the matrix of the current prefix.
  void refuseMatrix(const llvm::Twine &text) { refuse(llvm::StringRef(prefix).drop_back() + ": " + text); }

private:
  /// Returns the name of a state or symbol of the current sequence.
  std::string withSequence(const std::string &name) const {
    return sequence ? name + "." + std::to_string(sequence) : name;
  }
  void refuse(const llvm::Twine &text) { config.getReport().add(ImportFault::invalidModel, text); }

  InputShapes &inputShapes;
  std::string prefix;
  int64_t sequence = 0;
};

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Returns the vector of the first token: [batch, length, width] -> [batch, width].
Tensor takeFirst(const Tensor &x);
/// Reshapes [batch, length, heads * size] to [batch, heads, length, size], and back.
Tensor splitHeads(const Tensor &x, int64_t heads);
Tensor mergeHeads(const Tensor &x);
/// Reports an error if heads cannot share keys, or if the number of features to rotate is odd.
void checkKeyHeads(const Config &config, int64_t heads, int64_t keyHeads, int64_t headSize);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_MODELCONTEXT_H
