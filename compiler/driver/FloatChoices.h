//===- FloatChoices.h - where a small difference makes a large one --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_FLOATCHOICES_H
#define TENON_COMPILER_DRIVER_FLOATCHOICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// Returns for each result of a function a description of the discontinuous choice in floats that it depends on, such
/// as "top_k 'node'"; empty if there is none. In any arithmetic such a choice may differ if two candidates are nearly
/// equal, so the distance of two results is no measure of accuracy. A selection of one of two values by a comparison
/// does not count: if the comparison is close, so, usually, are the values (leaky ReLU, clip).
std::vector<std::string> findFloatChoices(mlir::func::FuncOp function);

/// Returns for each result of a function the number of another one that is its scores: all floats that an integer
/// result depends on are inputs, constants, or made of that result, as for the largest of logits that are a result,
/// too. The error of the scores then measures how accurate the choice is.
std::vector<std::optional<size_t>> findScores(mlir::func::FuncOp function);

/// The scores of integers that are places of the largest or smallest elements of them along a dimension.
struct ScoredPlaces {
  mlir::Value scores;
  int64_t axis;
};
/// Returns these for each result of a function that has them (arg_reduce, top_k), unless they depend on a choice
/// themselves. The elements of the result are in the order of the places.
std::vector<std::optional<ScoredPlaces>> findScoredPlaces(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_FLOATCHOICES_H
