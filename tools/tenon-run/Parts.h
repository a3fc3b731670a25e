//===- Parts.h - values as the tensors that the runtime takes -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A sequence is represented by two tensors, the concatenated elements and the shapes; strings by their bytes and their
// ends; an optional by a flag and its content. See tenon_role in runtime.h.
//
// ===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_PARTS_H
#define TENON_TOOLS_TENON_RUN_PARTS_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Splits a value into tensors for the ports of `input`. An empty optional has content of the smallest size.
Status takeApart(const Model::Value &input, HostValue value, std::vector<HostTensor> *parts);

/// Assembles a value from the ports of `output`. The tensors come from a kernel, so they are checked.
Status putTogether(const Model::Value &output, const std::vector<tenon_tensor> &parts, ValueView *value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_PARTS_H
