//===- CodeImage.cpp - compiled kernels in executable memory -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CodeImage.h"

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon::rt {

CodeImage::~CodeImage() {
  if (image)
    munmap(image, elf.imageSize);
}

/// Copies a segment's bytes from the file, and fills the rest with zeros.
static void fillSegment(const ElfFile &elf, const ElfFile::Segment &segment, uint8_t *image) {
  if (segment.fileSize)
    memcpy(image + segment.address, elf.bytes + segment.offset, segment.fileSize);
}

Status CodeImage::load(const uint8_t *bytes, size_t size, const char *arch) {
  uint64_t pageSize = uint64_t(sysconf(_SC_PAGESIZE));
  uint16_t machine = strncmp(arch, "aarch64", 7) == 0 ? EM_AARCH64 : EM_X86_64;
  TENON_TRY(elf.parse(bytes, size, machine, pageSize));

  void *memory = mmap(nullptr, elf.imageSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::make(TENON_RESOURCES, "no memory for %llu bytes of code: %s", (unsigned long long)elf.imageSize,
                        strerror(errno));
  image = static_cast<uint8_t *>(memory);

  auto protect = [&](const ElfFile::Segment &segment, int protection) -> Status {
    uint64_t begin = segment.address & ~(pageSize - 1);
    uint64_t end = (segment.address + segment.memorySize + pageSize - 1) & ~(pageSize - 1);
    if (begin == end || mprotect(image + begin, end - begin, protection) == 0)
      return {};
    return Status::make(TENON_UNSUPPORTED, "the system does not let code be loaded: %s", strerror(errno));
  };
  for (const ElfFile::Segment &segment : elf.segments) {
    TENON_TRY(protect(segment, PROT_READ | PROT_WRITE));
    fillSegment(elf, segment, image);
  }
  for (const ElfFile::Relocation &relocation : elf.relocations) {
    uint64_t value = uint64_t(reinterpret_cast<uintptr_t>(image)) + relocation.addend;
    memcpy(image + relocation.address, &value, sizeof value);
  }
  for (const ElfFile::Segment &segment : elf.segments) {
    TENON_TRY(protect(segment, segment.execute ? PROT_READ | PROT_EXEC : PROT_READ));
    if (segment.execute) {
      char *begin = reinterpret_cast<char *>(image + segment.address);
      __builtin___clear_cache(begin, begin + segment.memorySize);
    }
  }
  return {};
}

tenon_kernel_fn CodeImage::find(const char *name) const {
  const ElfFile::Function *function = elf.find(name);
  return function ? reinterpret_cast<tenon_kernel_fn>(image + function->address) : nullptr;
}

std::vector<int64_t> CodeImage::findWords(const char *name) const {
  const ElfFile::Object *object = elf.findObject(name);
  std::vector<int64_t> words(object ? object->size / sizeof(int64_t) : 0);
  if (!words.empty())
    memcpy(words.data(), object->bytes, words.size() * sizeof(int64_t));
  return words;
}

} // namespace tenon::rt
