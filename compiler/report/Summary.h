//===- Summary.h - an artifact in a dozen items ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_SUMMARY_H
#define TENON_COMPILER_REPORT_SUMMARY_H

#include "runtime/plan/Plan.h"
#include <string>
#include <vector>

namespace tenon {

class ArtifactView;

/// "x: f32[1, N]" for each input or output.
std::vector<std::string> listTensors(const ArtifactView &view, const std::vector<rt::Tensor> &tensors);

/// Returns "N 1..64" or "N from 1" for each dynamic dimension of the inputs.
std::vector<std::string> listSymbols(const rt::Plan &plan);

/// "host (x86_64 with 25 features)" for each target.
std::vector<std::string> listTargets(const ArtifactView &view);

/// Returns "weights 2.60 MiB", "activations up to 3.10 MiB" for each kind of memory; the last one ends in "= " and the
/// total if all are known.
std::vector<std::string> listMemoryItems(const ArtifactView &view);

/// Returns "111 launches of 10 kernels", "22.39 GFLOP", "454 MiB moved (47.0 flops a byte)".
std::vector<std::string> listWork(const ArtifactView &view);

/// Returns "all sizes" or "N=1" for each program of the selected target, in the order in which they are tried.
std::vector<std::string> listPrograms(const ArtifactView &view);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_SUMMARY_H
