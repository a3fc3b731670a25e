//===- ErrorReport.h - how far the outputs of a model are off --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ERRORREPORT_H
#define TENON_COMPILER_DRIVER_ERRORREPORT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// The largest error of one output over all input sets.
struct OutputError {
  std::string name;
  bool isFloat = true;
  /// For floats: max abs(y - ref) / max abs(ref). Infinite if only one of both is NaN, or if all of ref is 0.
  double error = 0;
  /// The error of the model itself, if it has f16 or bf16 that the output depends on: the error if each operation is
  /// exact, and its result rounded to the model's type.
  double own = 0;
  /// The unit roundoff of these types, if there are any.
  double roundoff = 0;
  uint64_t differing = 0, count = 0; ///< of integers: how many of them differ
  /// Of integers that are places of largest or smallest scores: half of the largest distance, in the reference's
  /// scores, of an element that was chosen to the one that the reference chooses, relative to the largest score. Scores
  /// that are off by no more than the tolerance choose elements within it.
  std::optional<double> scoreError;
  /// The reason why the difference does not measure accuracy; empty if it does.
  std::string note;
  /// The output whose error measures it instead: the scores by which these integers are chosen. Empty if there is none.
  std::string scores;

  /// Returns the largest error that is accepted for a tolerance: the tolerance itself, or the difference that two
  /// correct implementations with the model's own types may have.
  double getAllowed(double tolerance) const;
  bool keeps(double tolerance) const;
  /// Returns the error that the tolerance is for; none if nothing measures accuracy, or if integers have to be equal.
  std::optional<double> getBounded() const;
};

struct ErrorReport {
  std::string reason;          ///< why nothing was measured; empty where something was
  bool isInputAtFault = false; ///< the reason is a fault of inputs that were given
  bool areInputsGiven = false; ///< and not generated
  size_t numSets = 0;
  bool goesOn = false; ///< runs go on from states of an earlier one
  std::vector<OutputError> outputs;
  /// The program that computed the model, if it was not the code of the artifact.
  std::string emulator;

  static ErrorReport none(std::string reason) { return {std::move(reason), false, false, 0, false, {}, ""}; }
  /// True if some output's error measures its accuracy.
  bool hasBounded() const;
  /// Returns the largest error among those outputs whose error measures their accuracy.
  double getLargest() const;
  /// Returns the output that exceeds the tolerance the most; null if none does. Outputs whose error does not measure
  /// accuracy never exceed it.
  const OutputError *findExceeding(double tolerance) const;
  /// Returns the fraction of the allowed error that the worst output uses; 1 is the limit.
  double getUsedShare(double tolerance) const;
  /// Describes in one line why the tolerance is exceeded and what to do. `arePathsPinned` says that the user has
  /// excluded more exact paths.
  std::string describeExceeding(double tolerance, bool arePathsPinned) const;
  /// Takes the larger error of each output. Both reports must be for the same model.
  void merge(const ErrorReport &other);
  /// Returns the report in the artifact's format (compiler/report/ErrorFigures.h).
  std::string toJson() const;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ERRORREPORT_H
