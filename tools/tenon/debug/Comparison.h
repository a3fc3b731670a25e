//===- Comparison.h - a compiled model and a reference, run and compared ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_COMPARISON_H
#define TENON_TOOLS_TENON_DEBUG_COMPARISON_H

#include "tools/tenon/debug/OnnxGraph.h"
#include "tools/tenon/debug/Reference.h"
#include "tools/tenon/debug/ValueError.h"

namespace tenon::debug {

/// What all debugging commands are told.
struct DebugOptions {
  CompileOptions compile;
  std::string against = "f64";
  run::Options run; ///< inputs, sizes and the seed
  std::string python = "python3";
  std::optional<double> maxError;
  uint64_t keepBytes = uint64_t(4) << 30; ///< of values that are kept in one run
  bool json = false;
  size_t width = 0; ///< columns of tables; 0: any
  // As given, for printed command lines.
  std::string arguments;  ///< options of the compiler
  std::string comparison; ///< inputs, the reference and what is allowed
};

/// The result of running a model: its tensors, or the reason why there are none.
struct Captured {
  StepEnd end;
  std::vector<CapturedTensor> tensors;
};

/// The comparison of a value of the model, or of a component of one that is not a tensor, with the reference's.
struct ComparedValue {
  std::string name;     ///< "y", "y (shapes)"
  std::string value;    ///< as the model calls it
  std::string node, op; ///< that make it; empty of an output that no node makes
  size_t nodeIndex = 0; ///< in the graph
  std::string type;     ///< "f32[1,3]"
  std::string follows;  ///< it may differ, since quantization rounded this value otherwise; else empty
  std::string whyNot;   ///< it was not compared; else empty
  ValueError error;     ///< of a value that loops repeat: of the first iteration that diverges, or the largest one
  double allowed = 0;
  bool diverges = false;
  std::vector<std::string> loops; ///< that repeat it
  std::vector<int64_t> iteration; ///< of each of them, the first one that diverges; empty if none does
};

/// Compiles, runs and compares one model.
class Comparison {
public:
  /// Checks what the options say of the reference.
  static llvm::Expected<std::unique_ptr<Comparison>> create(DebugOptions options);

  const DebugOptions &getOptions() const { return options; }
  const Reference &getReference() const { return reference; }
  Workspace &getWorkspace() { return *workspace; }
  /// Null where the model is no ONNX file.
  const OnnxGraph *getGraph() const { return graph ? &*graph : nullptr; }
  const std::vector<CapturedTensor> &getInputs() const { return inputs; }
  const ErrorLimit &getLimit() const { return limit; }

  /// Null where the model has none of the name.
  const GraphValue *findValue(llvm::StringRef name) const;
  /// What the node of a value reads.
  std::vector<std::string> listReads(llvm::StringRef value) const;
  /// Lists the values of the main graph that the reference can compute, too, in the order of their nodes.
  std::vector<std::string> listValues() const;
  /// The same of the values inside of its nodes.
  std::vector<std::string> listInnerValues() const;

  /// Compiles the model unchanged. A failure has the compiler's own message.
  StepEnd compile();
  /// Makes the inputs of the compiled model.
  StepEnd makeInputs();
  /// Takes inputs that were captured, instead.
  StepEnd takeInputs(const std::string &folder);
  /// Runs the model with other options, on the same inputs. `marked` values become additional outputs. `compiled`, if
  /// it is not null, receives the outcome of the compilation.
  Captured runCompiled(const CompileOptions &how, llvm::ArrayRef<std::string> marked = {}, StepEnd *compiled = nullptr);
  Captured runReference(llvm::ArrayRef<std::string> marked = {});
  /// Runs the artifact that compile() made.
  Captured runPrepared();

  /// Runs the model or the reference with all values captured, except those that cannot be. Few runs are used, as far
  /// as memory allows, because one run per value would be slow.
  Captured keepValues(llvm::ArrayRef<std::string> values, bool ofReference);

  /// Compares the tensors of `got` named `names` with those of the reference, in the order of `names`.
  llvm::Expected<std::vector<ComparedValue>> compare(const Captured &got, const Captured &want,
                                                     llvm::ArrayRef<std::string> names);

private:
  explicit Comparison(DebugOptions options) : options(std::move(options)) {}
  CompileOptions getReferenceModel() const;
  std::vector<std::string> listKnown(const std::vector<GraphValue> &values) const;
  /// Creates the model in which the inner ones of `marked` are outputs of nodes; the model itself if there are none.
  /// Reads the list of the model's values, and of its reference if that is another model.
  StepEnd readValues();
  StepEnd readReferenceValues();
  /// The values of a model that is no ONNX file.
  llvm::Expected<std::vector<GraphValue>> readNamedValues(const std::string &input);
  StepEnd expose(const OnnxGraph &of, llvm::ArrayRef<std::string> marked, std::string &model);
  llvm::Error compareOne(const CapturedTensor &got, const CapturedTensor &want, ComparedValue &value) const;

  DebugOptions options;
  Reference reference;
  std::unique_ptr<Workspace> workspace;
  std::optional<OnnxGraph> graph, otherGraph; ///< of the model, and of one that is the reference
  std::vector<GraphValue> named;              ///< of a model that is no ONNX file
  llvm::StringMap<size_t> namedIndices;
  std::optional<llvm::StringSet<>> otherNames; ///< of values that the reference has, if it is not the model itself
  ErrorLimit limit;
  std::string prepared, inputFolder;
  std::vector<CapturedTensor> inputs;
};

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_COMPARISON_H
