//===- Artifact.h - a loaded artifact ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CORE_ARTIFACT_H
#define TENON_CORE_ARTIFACT_H

#include "runtime/core/Container.h"
#include "runtime/core/MappedFile.h"
#include "runtime/core/Plan.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/device/cpu/CpuFeatures.h"

#include <string>
#include <vector>

namespace tenon::rt {

/// All of an artifact that sessions share. Never changes after load().
class Artifact {
public:
  /// Maps and loads a file.
  Status loadFile(const char *path, bool verify);

  /// Loads what lies in memory, which stays the caller's.
  Status loadMemory(const uint8_t *bytes, size_t size, bool verify);

  const Plan &plan() const { return plan_; }
  const fmt::Header &header() const { return container.header; }

  /// Of the code section in use.
  const char *target() const { return code->target; }

  const uint8_t *weights() const { return weights_; }
  uint64_t weightBytes() const { return weightBytes_; }

  /// One for each kernel of the plan.
  const std::vector<tenon_kernel_fn> &entries() const { return entries_; }

  /// The file's path, to begin error messages with.
  const char *label() const { return label_.c_str(); }

private:
  Status load(const uint8_t *bytes, size_t size, bool verify);
  Status pickCode();
  Status loadCode();

  std::string label_ = "artifact";
  MappedFile file;
  Container container;
  const fmt::Section *code = nullptr;
  const uint8_t *weights_ = nullptr;
  uint64_t weightBytes_ = 0;
  Plan plan_;
  CodeImage image;
  std::vector<tenon_kernel_fn> entries_;
};

} // namespace tenon::rt

#endif // TENON_CORE_ARTIFACT_H
