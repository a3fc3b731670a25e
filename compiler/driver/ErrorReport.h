//===- ErrorReport.h - how far the outputs of a model are off --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ERRORREPORT_H
#define TENON_COMPILER_DRIVER_ERRORREPORT_H

#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

/// How far one output is off, at most, for all input sets.
struct OutputError {
  std::string name;
  bool isFloat = true;
  /// Of floats: max abs(y - ref) / max abs(ref). Infinite where one of both is no number, or all of ref is 0.
  double error = 0;
  /// The error of the model itself, if it has f16 or bf16 and the output depends on it: each operation exact, and its
  /// result rounded to the type that the model gives it.
  double own = 0;
  /// The unit roundoff of these types, if there are any.
  double roundoff = 0;
  uint64_t differing = 0, count = 0; ///< of integers: how many of them differ
  /// Why the difference says nothing of how exact the output is; empty where it does.
  std::string note;

  /// The largest error that keeps a tolerance: that, or what two implementations of the model may differ by that both
  /// round as its own types ask for.
  double getAllowed(double tolerance) const;
  bool keeps(double tolerance) const;
};

struct ErrorReport {
  std::string reason;          ///< why nothing was measured; empty where something was
  bool isInputAtFault = false; ///< the reason is a fault of inputs that were given
  bool areInputsGiven = false; ///< and not generated
  size_t numSets = 0;
  std::vector<OutputError> outputs;
  /// What computed the model, where it was not the code of the artifact itself.
  std::string emulator;

  static ErrorReport none(std::string reason) { return {std::move(reason), false, false, 0, {}, ""}; }
  /// Whether the error of an output says how exact it is.
  bool hasBounded() const;
  /// The largest error of those outputs whose error says how exact they are.
  double getLargest() const;
  /// The output that exceeds the tolerance by most; null where all keep it, as outputs that cannot be bounded do.
  const OutputError *findExceeding(double tolerance) const;
  /// How much of what the tolerance allows is used by the worst output: 1 where that is all.
  double getUsedShare(double tolerance) const;
  /// Why the tolerance is exceeded and what to do, for one line. Whether the user has ruled out more exact paths.
  std::string describeExceeding(double tolerance, bool arePathsPinned) const;
  /// Of each output the larger error. The outputs are those of one model.
  void merge(const ErrorReport &other);
  /// As the artifact has it (compiler/report/ErrorFigures.h).
  std::string toJson() const;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ERRORREPORT_H
