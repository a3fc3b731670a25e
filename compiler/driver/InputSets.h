//===- InputSets.h - inputs that errors are measured with -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_INPUTSETS_H
#define TENON_COMPILER_DRIVER_INPUTSETS_H

#include "dialects/tenon/Ranges.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tenon/runtime.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A tensor for one input of the runtime.
struct InputTensor {
  tenon_dtype dtype;
  std::vector<int64_t> dims;
  std::vector<char> bytes;

  /// As the runtime takes it.
  tenon_tensor view() { return {dtype, static_cast<uint32_t>(dims.size()), dims.data(), bytes.data()}; }
};

/// One tensor for each input of an artifact, and of how many sequences the run is.
struct InputSet : std::vector<InputTensor> {
  uint32_t sequences = 1;
  /// Inputs of an earlier run of one sequence, whose states this run goes on from; null if it begins a session.
  std::shared_ptr<InputSet> before;
};

/// Reads input sets for an artifact, at least one. Fails if they are invalid.
using InputReader = std::function<llvm::Expected<std::vector<InputSet>>(const tenon_artifact *artifact)>;

/// Returns the bytes that a run needs for inputs of these shapes, besides weights; none if it rejects them.
using MemoryMeter = llvm::function_ref<std::optional<uint64_t>(InputSet &shapes)>;

/// Runs with inputs, and says whether that succeeds.
using InputTest = llvm::function_ref<bool(InputSet &inputs)>;

/// Generates reproducible inputs for a simplified function. Floats are normally distributed; integers are within the
/// range of their use as indices or lengths, otherwise 0 or 1, or any byte. Dynamic sizes have their `preferred`
/// values; otherwise a first dimension is 1 (64 if the model rejects that), and others are 64, or less if a run would
/// need more than a gigabyte besides the weights. Some models need related sizes, such as a mask that is one longer
/// than the cache: among several dynamic sizes, those whose bit in `guess` is set are one larger, in the order of
/// symbols. Sizes of 64 are halved at least `halvings` times. An error of category `unsupported` says why inputs cannot
/// be generated.
llvm::Expected<InputSet> generateInputs(mlir::func::FuncOp function, llvm::ArrayRef<NamedRange> preferred,
                                        MemoryMeter meter, unsigned guess = 0, unsigned halvings = 0);

/// Returns the functions that programs are made from; the last one is for all sizes.
llvm::SmallVector<mlir::func::FuncOp> getProgramFunctions(mlir::ModuleOp simplified);

/// Generates inputs for each of these functions. Dynamic sizes are those of `programs`, as in GraphOptions; otherwise
/// those of the first guess that `works`, if there are several and any does. Where the functions have states, each set
/// has an earlier run, which may be more than the states have room for.
llvm::Expected<std::vector<InputSet>> generateInputSets(mlir::ModuleOp simplified, llvm::ArrayRef<std::string> programs,
                                                        MemoryMeter meter, InputTest works);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_INPUTSETS_H
