//===- ErrorMeter.h - how far a compiled model is off ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ERRORMETER_H
#define TENON_COMPILER_DRIVER_ERRORMETER_H

#include "compiler/backend/Target.h"
#include "compiler/driver/ErrorReport.h"
#include "compiler/driver/InputSets.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <string>
#include <vector>

namespace tenon {

class KernelCache;
class LoadedModel;

/// Compares compiled variants of a model with the same model computed in f64. The reference runs once, at the first
/// comparison.
class ErrorMeter {
public:
  /// `imported` is the imported model. `reader` is null if inputs are generated. The reference runs on `target`, which
  /// this machine must support. `kernels` may have some of the reference's kernels, and may be null.
  ErrorMeter(mlir::OwningOpRef<mlir::ModuleOp> imported, InputReader reader, Target target,
             std::shared_ptr<KernelCache> kernels)
      : imported(std::move(imported)), reader(std::move(reader)), target(std::move(target)),
        kernels(std::move(kernels)) {}

  /// The model, until the reference was made of it.
  mlir::ModuleOp getImported() { return imported ? *imported : mlir::ModuleOp(); }

  /// Runs a compiled variant of the model that was lowered from `simplified`. Dynamic sizes are those of `programs`, as
  /// in GraphOptions. If the error cannot be measured, the report says why.
  ErrorReport measure(const LoadedModel &model, mlir::ModuleOp simplified, mlir::ArrayRef<std::string> programs);

private:
  /// One output of a reference, for one input set.
  struct Result {
    std::vector<int64_t> dims;
    tenon_dtype dtype;
    std::vector<char> bytes;
  };
  using Results = std::vector<std::vector<Result>>; // for each input set, for each output, and then scores
  /// Where the reference has the scores of an output's integers.
  struct Scores {
    size_t result;
    int64_t axis;
  };
  std::string prepare(mlir::ModuleOp simplified, mlir::ArrayRef<std::string> programs, const LoadedModel &model);
  std::string makeInputs(mlir::ModuleOp simplified, mlir::ArrayRef<std::string> programs, const LoadedModel &model,
                         LoadedModel &reference);
  /// With `mayBeginSessions`, a set that fails after its earlier run has none from then on.
  std::string runReference(LoadedModel &reference, Results &results, bool mayBeginSessions);
  void measureOwnErrors(mlir::OwningOpRef<mlir::ModuleOp> rounded);
  void addScores();
  void compare(const Result &want, const Result *scores, int64_t axis, const tenon_tensor &got,
               OutputError &output) const;

  mlir::OwningOpRef<mlir::ModuleOp> imported; ///< null once the reference has run
  InputReader reader;
  Target target;
  std::shared_ptr<KernelCache> kernels;
  std::vector<InputSet> sets;
  Results wanted;
  std::vector<double> ownErrors;    ///< for each output, see OutputError; empty where the model has no f16 or bf16
  double roundoff = 0;              ///< of the model's f16 or bf16
  std::vector<std::string> choices; ///< for each output, see findFloatChoices
  std::vector<std::optional<size_t>> scoringOutputs; ///< likewise, see findScores
  std::vector<std::optional<Scores>> scores;         ///< likewise, see findScoredPlaces
  std::string whyNot;                                ///< there is no reference
  bool isInputAtFault = false;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ERRORMETER_H
