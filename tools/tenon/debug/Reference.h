//===- Reference.h - what a compiled model is compared with ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_REFERENCE_H
#define TENON_TOOLS_TENON_DEBUG_REFERENCE_H

#include "tools/tenon/debug/Workspace.h"

namespace tenon::debug {

/// What `--against` names.
struct Reference {
  enum class Kind {
    f64,         ///< the model itself, computed in f64
    model,       ///< another model, computed in f64
    artifact,    ///< another artifact, as it is
    testData,    ///< inputs and outputs in an ONNX test_data_set folder
    onnxruntime, ///< the model itself, by ONNX Runtime
    onnx         ///< the model itself, by ONNX's own evaluator
  };
  Kind kind = Kind::f64;
  std::string path; ///< of a model, an artifact or a folder

  /// What a word or a path of the command line means.
  static llvm::Expected<Reference> parse(const std::string &text);

  bool isPython() const { return kind == Kind::onnxruntime || kind == Kind::onnx; }
  /// True if it can compute any value between inputs and outputs.
  bool hasValues() const { return kind != Kind::artifact && kind != Kind::testData; }
  /// Whether its own rounding does not count.
  bool isExact() const { return kind == Kind::f64 || kind == Kind::model; }
  std::string describe() const;
};

/// Runs the model by the reference's Python package, and captures its outputs and the available ones of `values`.
StepEnd runPython(Workspace &workspace, const Reference &reference, const std::string &python, const std::string &model,
                  const std::string &inputs, llvm::ArrayRef<std::string> values, const std::string &folder);

/// Captures the inputs or the outputs (`kind`: "input" or "output") of a test_data_set folder as those of an artifact.
StepEnd captureTestData(Workspace &workspace, const std::string &data, const char *kind, const run::Options &artifact,
                        const std::string &folder);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_REFERENCE_H
