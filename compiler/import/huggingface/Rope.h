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

/// How far each pair of features turns from one position to the next, and what the result is multiplied with.
struct Rope {
  std::vector<double> frequencies;
  double scale = 1;
  /// Where it is not 0: texts longer than that turn otherwise.
  int64_t threshold = 0;
  /// How far they turn, as longrope has it; or where there are none, the factor by which dynamic stretches.
  std::vector<double> longFrequencies;
  double factor = 1;
};

/// Reads `rope_parameters`, as newer files have it, or `rope_theta` and `rope_scaling`. A kind that is not
/// known is reported. With `allowsPart`, the config may say that only the first features of a head turn. `theta` stands
/// for what the config leaves out.
Rope readRope(const Config &config, int64_t headSize, bool allowsPart = false, double theta = 10000.0);
/// One kind of it: `parameters` are the fields of rope_parameters or rope_scaling.
Rope readRope(const Config &config, const Config &parameters, double theta, int64_t headSize, bool allowsPart = false);

/// Cosines and sines of the angles of `length` positions behind `past` ones, each [length, pairs of features that
/// turn]. Where there are never more than `context` positions, which 0 leaves open, they are rows of tables.
std::pair<Tensor, Tensor> makeRotations(Graph &graph, const Rope &rope, const Dim &length, const Dim &past,
                                        int64_t context);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_ROPE_H
