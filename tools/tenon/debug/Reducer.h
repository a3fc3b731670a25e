//===- Reducer.h - the smallest part of a model that still fails ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_REDUCER_H
#define TENON_TOOLS_TENON_DEBUG_REDUCER_H

#include "tools/tenon/debug/Compare.h"
#include "tools/tenon/debug/Outcome.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <onnx/onnx_pb.h>

namespace tenon::debug {

/// Reduces a failing model to the smallest part that fails in the same way.
class Reducer {
public:
  /// Compiles, runs and compares the whole model.
  static llvm::Expected<std::unique_ptr<Reducer>> create(DebugOptions options);

  const Outcome &getWhole() const { return whole; }
  const OnnxGraph &getGraph() const { return graph; }
  bool isFailing() const { return whole.stage != Outcome::Stage::none; }

  /// Searches for the part. Fails if even the part that equals the whole model does not fail in the same way.
  llvm::Error reduce();
  const GraphPart &getPart() const { return smallest; }
  /// How the part fails.
  const Outcome &getOutcome() const { return last; }
  size_t getTries() const { return tried.size(); }

  /// Writes the part as a model and, unless it fails to compile, its inputs and the reference's results to a folder.
  /// Returns the names of the inputs.
  llvm::Expected<std::vector<std::string>> write(const std::string &model, const std::string &data);

private:
  Reducer(DebugOptions options, OnnxGraph graph) : options(std::move(options)), graph(std::move(graph)) {}

  // Reducer.cpp: the search.
  bool fails(const GraphPart &part);
  Outcome tryPart(const GraphPart &part);
  llvm::Expected<GraphPart> findStart();
  GraphPart cutInputs(const GraphPart &part);
  GraphPart dropNodes(const GraphPart &part);

  // PartModel.cpp: parts as models.
  void inferTypes();
  std::optional<tenon_dtype> findType(llvm::StringRef name) const;
  const CapturedTensor *findData(llvm::StringRef name) const;
  bool describe(llvm::StringRef name, onnx::ValueInfoProto &info) const;
  bool makeConstant(llvm::StringRef name, onnx::TensorProto &tensor) const;
  /// Returns false if the part cannot be a separate model.
  bool writeModel(const OnnxGraph &source, const GraphPart &part, const std::string &path);
  /// Captures the inputs of a model that was written.
  llvm::Error captureInputs(const std::string &model, const std::string &folder);
  DebugOptions getPartOptions(const std::string &model) const;

  DebugOptions options;
  OnnxGraph graph;
  std::optional<OnnxGraph> other; ///< of the reference, where that is another model
  std::unique_ptr<Comparison> comparison;
  Outcome whole, last;
  std::optional<CompareResult> compared;
  Captured data;                               ///< all values as the reference makes them
  llvm::StringMap<onnx::ValueInfoProto> types; ///< that ONNX infers
  std::map<std::string, bool> tried;
  GraphPart smallest;
};

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_REDUCER_H
