//===- ErrorMeter.h - how far a compiled model is off ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ERRORMETER_H
#define TENON_COMPILER_DRIVER_ERRORMETER_H

#include "compiler/driver/InputSets.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace tenon {

struct ArtifactParts;
class LoadedModel;

/// How far one output is off, at most, for all input sets.
struct OutputError {
  std::string name;
  bool isFloat = true;
  /// Of floats: max abs(y - ref) / max abs(ref). Infinite where one of both is no number, or all of ref is 0.
  double error = 0;
  uint64_t differing = 0, count = 0; ///< of integers: how many of them differ
  /// Why the difference says nothing of how exact the output is; empty where it does.
  std::string note;
};

struct ErrorReport {
  std::string reason;          ///< why nothing was measured; empty where something was
  bool isInputAtFault = false; ///< the reason is a fault of inputs that were given
  bool areInputsGiven = false; ///< and not generated
  size_t numSets = 0;
  std::vector<OutputError> outputs;

  static ErrorReport none(std::string reason) { return {std::move(reason), false, false, 0, {}}; }
  /// The largest error of those outputs whose error says how exact they are.
  double getLargest() const;
  /// That error, and whose: "2.3e-05 of the largest element of output 'y', with 1 generated input set".
  std::string describeLargest() const;
  /// As the artifact has it (compiler/report/ErrorFigures.h).
  std::string toJson() const;
};

/// Compares compiled forms of one model with the same model computed in f64. That runs once, at the first comparison.
class ErrorMeter {
public:
  /// What the model is, as imported. `reader` is null where inputs are to be generated.
  ErrorMeter(mlir::OwningOpRef<mlir::ModuleOp> imported, InputReader reader)
      : imported(std::move(imported)), reader(std::move(reader)) {}

  /// The model, until the reference was made of it.
  mlir::ModuleOp getImported() { return imported ? *imported : mlir::ModuleOp(); }

  /// Runs the compiled model, which came of `simplified`, on this machine. Open sizes are those of `programs`, as
  /// GraphOptions has them. What cannot be measured is no failure: the report says why.
  ErrorReport measure(const ArtifactParts &parts, mlir::ModuleOp simplified, mlir::ArrayRef<std::string> programs);

private:
  /// One output of the reference, for one input set.
  struct Result {
    std::vector<int64_t> dims;
    tenon_dtype dtype;
    std::vector<char> bytes;
  };
  std::string prepare(mlir::ModuleOp simplified, mlir::ArrayRef<std::string> programs, const LoadedModel &model);
  std::string makeInputs(mlir::ModuleOp simplified, mlir::ArrayRef<std::string> programs, const LoadedModel &model,
                         LoadedModel &reference);
  std::string runReference(LoadedModel &reference);
  void compare(const Result &want, const tenon_tensor &got, OutputError &output) const;

  mlir::OwningOpRef<mlir::ModuleOp> imported; ///< null once the reference has run
  InputReader reader;
  std::vector<InputSet> sets;
  std::vector<std::vector<Result>> wanted; ///< for each input set, for each output
  std::vector<std::string> choices;        ///< for each output, see findFloatChoices
  std::string whyNot;                      ///< there is no reference
  bool isInputAtFault = false;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ERRORMETER_H
