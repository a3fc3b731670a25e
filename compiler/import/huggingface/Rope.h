//===- Rope.h - rotary positions, as configs describe them ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_ROPE_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_ROPE_H

#include "compiler/import/huggingface/ModelContext.h"

namespace tenon::huggingface {

/// The frequency of each pair of features, and the factor of the results.
struct Rope {
  std::vector<double> frequencies;
  double scale = 1;
  /// If it is not 0, longer texts have other frequencies.
  int64_t threshold = 0;
  /// The frequencies for longer texts (longrope) or, if empty, the scaling factor (dynamic).
  std::vector<double> longFrequencies;
  double factor = 1;
};

/// Reads `rope_parameters`, as in newer files, or `rope_theta` and `rope_scaling`. An unsupported type is reported.
/// With `allowsPart`, the config may restrict the rotation to the first features of a head. `theta` is the default.
Rope readRope(const Config &config, int64_t headSize, bool allowsPart = false, double theta = 10000.0);
/// Reads one set of rotary positions: `parameters` are the fields of rope_parameters or rope_scaling.
Rope readRope(const Config &config, const Config &parameters, double theta, int64_t headSize, bool allowsPart = false);

/// Returns the cosines and sines for `length` positions after `past` ones, each [length, pairs of rotated features]. If
/// there are never more than `context` positions (0: unknown), they are rows of tables.
std::pair<Tensor, Tensor> makeRotations(Graph &graph, const Rope &rope, const Dim &length, const Dim &past,
                                        int64_t context);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_ROPE_H
