//===- Layers.h - where the time of a model goes ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_LAYERS_H
#define TENON_TOOLS_TENON_RUN_LAYERS_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Profiles runs of the warmed-up model, whose inputs are bound, and prints the kernels and layers with their share of
/// the time: the median over the runs of each instruction's time.
Status printLayers(const Options &options, Model &model);

/// Returns a name with each number replaced by '*': layers whose names differ only in numbers are grouped.
std::string getPattern(const std::string &name);

/// Shortens a name to at most `width` bytes by replacing its middle by "..", at boundaries of UTF-8 characters.
std::string shorten(const std::string &name, size_t width);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_LAYERS_H
