//===- TensorTarget.cpp - files of tensors, .npy and .pb ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Npy.h"
#include "tools/tenon-run/TensorProto.h"

using namespace tenon::run;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The type that is wanted follows from the input, so that all ways to write elements are read.
  tenon_dtype wanted = tenon_dtype(size % (TENON_C128 + 1));
  HostTensor npy, strings, proto;
  (void)parseNpy(data, size, wanted, &npy);
  (void)parseNpyStrings(data, size, &strings);
  (void)parseTensorProto(data, size, &proto);
  return 0;
}
