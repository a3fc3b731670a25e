//===- ArtifactTarget.cpp - a whole artifact, and the code in it ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/ElfFile.h"
#include "tenon/runtime.h"
#include "test/unit/runtime/ArtifactBuilder.h"

#include <elf.h>

using namespace tenon;

/// Asks for all that an artifact says, and for the memory of some sizes. Its kernels are not run: code is code.
static void examine(tenon_artifact *artifact) {
  tenon_artifact_info info;
  tenon_artifact_describe(artifact, &info);
  tenon_session_options options{sizeof options, 1, 0, 0, 0, 0};
  tenon_session *session;
  if (tenon_session_create(artifact, &options, &session, nullptr) != TENON_OK)
    return;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    tenon_tensor_info tensor;
    tenon_artifact_input(artifact, i, &tensor, nullptr);
    std::vector<int64_t> dims(tensor.rank);
    for (uint32_t d = 0; d < tensor.rank; ++d) {
      tenon_dim_info dim;
      tenon_artifact_input_dim(artifact, i, d, &dim, nullptr);
      dims[d] = dim.value < 0 ? 16 : dim.value;
    }
    tenon_tensor view{tensor.dtype, tensor.rank, dims.data(), nullptr};
    (void)tenon_session_bind_input(session, i, &view, nullptr);
  }
  tenon_memory memory;
  tenon_memory_bounds bounds;
  if (tenon_session_measure(session, &memory, nullptr) == TENON_OK)
    (void)tenon_session_bound_memory(session, &bounds, nullptr);
  uint64_t flops, bytes;
  for (uint32_t i = 0; i < info.instruction_count; ++i)
    (void)tenon_session_work(session, i, &flops, &bytes, nullptr);
  std::vector<uint64_t> live(info.instruction_count);
  (void)tenon_session_live_bytes(session, live.data(), info.instruction_count, nullptr);
  tenon_session_release(session);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rt::ElfFile elf;
  test::Bytes bytes(data, size);
  for (uint16_t machine : {EM_X86_64, EM_AARCH64})
    (void)elf.parse(bytes.data(), size, machine, 4096);
  // As it is, and with hashes that hold, or nothing behind them would ever be read.
  for (bool isRehashed : {false, true}) {
    if (isRehashed)
      test::rehash(bytes);
    tenon_load_options options{sizeof options, isRehashed ? TENON_VERIFY_ALL : TENON_VERIFY_USED, nullptr, nullptr, 0};
    tenon_artifact *artifact;
    tenon_error error;
    if (tenon_artifact_load_memory(bytes.data(), size, &options, &artifact, &error) != TENON_OK)
      continue;
    examine(artifact);
    tenon_artifact_release(artifact);
  }
  return 0;
}
