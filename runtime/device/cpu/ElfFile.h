//===- ElfFile.h - reads a shared object that may be hostile -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_ELFFILE_H
#define TENON_RUNTIME_DEVICE_CPU_ELFFILE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::rt {

/// The parts of a 64-bit ELF shared object without imports. All addresses are relative to the load address.
///
/// After parse() has succeeded: segments ascend without sharing a page of 64 KiB or less that this machine
/// uses, none is writable and executable at once, their file ranges lie in the file, and every relocation
/// writes eight bytes of a writable segment and points into the image.
struct ElfFile {
  struct Segment {
    uint64_t address, memorySize;
    uint64_t offset, fileSize; // in the file
    bool write, execute;
  };
  struct Relocation {
    uint64_t address; // where to write the image's address plus `addend`
    uint64_t addend;
  };
  struct Function {
    const char *name; // in the file, ends with a zero
    uint64_t address;
  };
  struct Object {
    const char *name;
    const uint8_t *bytes; // in the file, not relocated
    uint64_t size;
  };

  const uint8_t *bytes;
  size_t size;
  std::vector<Segment> segments;
  std::vector<Relocation> relocations;
  std::vector<Function> functions; // sorted by name
  std::vector<Object> objects;     // constants that the code exports, sorted by name
  uint64_t imageSize;              // bytes from address 0 to the end of the last segment, in whole pages

  /// `machine` is the required e_machine, `pageSize` the system's. The caller keeps the file.
  Status parse(const uint8_t *file, size_t fileSize, uint16_t machine, uint64_t pageSize);

  /// Null where there is no such function.
  const Function *find(const char *name) const;
  /// Null where there is no such object.
  const Object *findObject(const char *name) const;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_ELFFILE_H
