//===- Runner.h - artifacts and sessions that free themselves ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_RUNTIME_RUNNER_H
#define TENON_TEST_UNIT_RUNTIME_RUNNER_H

#include "tenon/runtime.h"
#include "test/unit/runtime/ArtifactBuilder.h"

#include <string>
#include <vector>

namespace tenon::test {

/// What loading a file came to: a status and a message, or an artifact.
struct Loaded {
  Bytes bytes; // which the artifact reads
  tenon_artifact *artifact = nullptr;
  tenon_status status;
  tenon_error error{};

  explicit Loaded(Bytes file, bool verify = false, const char *target = nullptr) : bytes(std::move(file)) {
    tenon_load_options options{sizeof options, verify, target, nullptr, 0, nullptr};
    status = tenon_artifact_load_memory(bytes.data(), bytes.size, &options, &artifact, &error);
  }
  explicit Loaded(const ArtifactBuilder &builder) : Loaded(builder.build()) {}
  Loaded(Loaded &&) = delete;
  ~Loaded() { tenon_artifact_release(artifact); }
};

/// A session on an artifact in memory. Keeps the message of the last failure.
struct Runner {
  Loaded loaded;
  tenon_session *session = nullptr;
  tenon_error error{};

  explicit Runner(const ArtifactBuilder &builder, uint32_t threads = 1, uint64_t limit = 0, uint32_t slots = 1)
      : loaded(builder) {
    if (loaded.status != TENON_OK)
      throw std::string(loaded.error.message);
    tenon_session_options options{sizeof options, threads, limit, slots, 0, 0};
    if (tenon_session_create(loaded.artifact, &options, &session, &error) != TENON_OK)
      throw std::string(error.message);
  }
  ~Runner() { tenon_session_release(session); }

  tenon_status bind(uint32_t input, tenon_dtype dtype, std::vector<int64_t> dims, const void *data) {
    tenon_tensor tensor{dtype, uint32_t(dims.size()), dims.data(), const_cast<void *>(data)};
    return tenon_session_bind_input(session, input, &tensor, &error);
  }
  tenon_status bind(uint32_t input, const std::vector<float> &values) {
    return bind(input, TENON_F32, {int64_t(values.size())}, values.data());
  }
  tenon_status run() { return tenon_session_run(session, &error); }
  std::string message() const { return error.message; }

  template <typename T> std::vector<T> output(uint32_t index) {
    tenon_tensor tensor{};
    if (tenon_session_output(session, index, &tensor, &error) != TENON_OK)
      throw message();
    size_t count = tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims) / sizeof(T);
    const T *data = static_cast<const T *>(tensor.data);
    return {data, data + count};
  }
};

} // namespace tenon::test

#endif // TENON_TEST_UNIT_RUNTIME_RUNNER_H
