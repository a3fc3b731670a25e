//===- ValueFiles.h - values in files -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_VALUEFILES_H
#define TENON_TOOLS_TENON_RUN_VALUEFILES_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Reads an ONNX tensor, sequence or optional (.pb), depending on the input.
Status readProto(const char *path, const Model::Value &input, HostValue *value);

/// Reads the value of an input from a .pb file, a .npy file or, for a sequence, from 0.npy, 1.npy... in a folder.
Status readValue(const std::string &path, const Model::Value &input, HostValue *value);

/// Reads a tensor of this type from a .npy file.
Status readNpy(const char *path, tenon_dtype dtype, HostTensor *tensor);

/// Writes a .npy file or, for a sequence, a folder of them. Writes nothing for an empty optional.
Status writeValue(const std::string &path, const ValueView &value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_VALUEFILES_H
