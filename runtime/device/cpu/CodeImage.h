//===- CodeImage.h - compiled kernels in executable memory ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_CODEIMAGE_H
#define TENON_RUNTIME_DEVICE_CPU_CODEIMAGE_H

#include "runtime/base/Status.h"
#include "runtime/device/cpu/ElfFile.h"
#include "runtime/format/Kernel.h"

namespace tenon::rt {

/// Loads a code section without the system's dynamic loader, so that it works in a static program and writes nothing to
/// disk. No page is ever writable and executable at once, and after load() none is writable: kernels keep no state.
class CodeImage {
public:
  CodeImage() = default;
  CodeImage(CodeImage &&other) = delete;
  ~CodeImage();

  /// `bytes` must remain valid until the last find(). `arch` is the first component of a target (Target.h).
  Status load(const uint8_t *bytes, size_t size, const char *arch);

  /// The entry point `name`, or null.
  tenon_kernel_fn find(const char *name) const;

  /// Returns the 64-bit integers of the constant array `name`; empty if there is none.
  std::vector<int64_t> findWords(const char *name) const;

private:
  ElfFile elf;
  uint8_t *image = nullptr;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_CODEIMAGE_H
