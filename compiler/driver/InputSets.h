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

/// One tensor for each input of an artifact.
using InputSet = std::vector<InputTensor>;

/// Input sets that someone has for an artifact: at least one. Fails where there is a fault in them.
using InputReader = std::function<llvm::Expected<std::vector<InputSet>>(const tenon_artifact *artifact)>;

/// What a run needs of memory with inputs of such shapes; nothing where it refuses them.
using MemoryMeter = llvm::function_ref<std::optional<uint64_t>(InputSet &shapes)>;

/// Runs with inputs, and says whether that succeeds.
using InputTest = llvm::function_ref<bool(InputSet &inputs)>;

/// Makes inputs for a simplified function; the same ones each time. Floats are normally distributed; integers lie where
/// what reads them as indices or lengths can take them, else they are 0 or 1, or any byte. Open sizes have the value
/// that `preferred` says; else a first dimension is 1 (64 if the model refuses that), others are 64, or less where a
/// run would need more than a gigabyte. Models may need sizes that fit each other, such as a mask of one more than is
/// cached: of several open sizes, those are one larger whose bit of `guess` is set, in the order of symbols. An error
/// of category `unsupported` says why inputs cannot be made.
llvm::Expected<InputSet> generateInputs(mlir::func::FuncOp function, llvm::ArrayRef<NamedRange> preferred,
                                        MemoryMeter meter, unsigned guess = 0);

/// The functions that programs came of; the last is for all sizes.
llvm::SmallVector<mlir::func::FuncOp> getProgramFunctions(mlir::ModuleOp simplified);

/// Inputs for each of these functions. Open sizes are those of `programs`, as GraphOptions has them, and else those of
/// the first guess that `works`, if there are several and any does.
llvm::Expected<std::vector<InputSet>> generateInputSets(mlir::ModuleOp simplified, llvm::ArrayRef<std::string> programs,
                                                        MemoryMeter meter, InputTest works);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_INPUTSETS_H
