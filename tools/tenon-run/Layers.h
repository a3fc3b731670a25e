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

/// Profiles warm runs of the model, whose inputs are bound, and prints which kernels and which layers its time goes to:
/// the median over the runs of each instruction's time.
Status printLayers(const Options &options, Model &model);

/// A name with each number in it replaced by '*': layers whose names differ in numbers alone are alike.
std::string getPattern(const std::string &name);

/// At most `width` bytes of a name: the middle gives way to "..". Nothing is cut within a UTF-8 character.
std::string shorten(const std::string &name, size_t width);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_LAYERS_H
