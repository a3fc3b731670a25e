//===- Program.h - calls tenon-run as a shell would ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_TENON_RUN_PROGRAM_H
#define TENON_TEST_UNIT_TENON_RUN_PROGRAM_H

#include "test/unit/runtime/Bytes.h"

#include <string>
#include <vector>

namespace tenon::test {

struct Result {
  int code; // exit code; 128 and more: the signal that ended it
  std::string out, err;
};

/// Runs tenon-run with these arguments.
Result tenonRun(const std::vector<std::string> &arguments);

/// A folder that is removed with all in it.
struct Folder {
  std::string path;
  Folder();
  ~Folder();
  std::string operator/(const std::string &name) const { return path + "/" + name; }
};

/// One field of a protobuf message.
std::string varint(uint64_t value);
std::string field(unsigned number, uint64_t value);
std::string field(unsigned number, const std::string &bytes);

/// An onnx.TensorProto with raw data.
std::string tensorProto(const std::string &name, unsigned dataType, const std::vector<int64_t> &dims, const void *data,
                        size_t bytes);

} // namespace tenon::test

#endif // TENON_TEST_UNIT_TENON_RUN_PROGRAM_H
