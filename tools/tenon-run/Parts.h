//===- Parts.h - values as the tensors that the runtime takes -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A sequence is two tensors, its tensors' elements and their shapes; strings are their bytes and their ends;
// an optional is whether it is there, and what it holds. See tenon_role in runtime.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_PARTS_H
#define TENON_TOOLS_TENON_RUN_PARTS_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Takes a value apart, for the ports of `input`. An optional that holds nothing has contents of the least
/// size.
Status takeApart(const Model::Value &input, HostValue value, std::vector<HostTensor> *parts);

/// Puts together what the ports of `output` gave. The parts come from a kernel, so they are checked.
Status putTogether(const Model::Value &output, const std::vector<tenon_tensor> &parts, ValueView *value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_PARTS_H
