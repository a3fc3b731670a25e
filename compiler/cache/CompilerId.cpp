//===- CompilerId.cpp - which compiler this is ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CompilerId.h"
#include "compiler/cache/CacheEntry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <elf.h>
#include <link.h>

using namespace tenon;

/// The note that linkers leave, a hash of what they wrote; empty where there is none.
static llvm::StringRef getBuildId(const dl_phdr_info &object) {
  for (const ElfW(Phdr) &segment : llvm::ArrayRef(object.dlpi_phdr, object.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    llvm::StringRef notes(reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr), segment.p_memsz);
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
      auto *note = reinterpret_cast<const ElfW(Nhdr) *>(notes.data());
      size_t name = llvm::alignTo(note->n_namesz, 4), text = llvm::alignTo(note->n_descsz, 4);
      notes = notes.drop_front(sizeof(*note));
      if (note->n_type == NT_GNU_BUILD_ID && notes.take_front(note->n_namesz) == llvm::StringRef("GNU\0", 4))
        return notes.substr(name, note->n_descsz);
      notes = notes.drop_front(std::min(name + text, notes.size()));
    }
  }
  return "";
}

static std::string makeCompilerId() {
  Fingerprint fingerprint;
  auto add = [](dl_phdr_info *object, size_t, void *context) {
    // The system's own page of code is no file, generates none, and changes with the system.
    if (llvm::StringRef(object->dlpi_name).starts_with("linux-vdso"))
      return 0;
    auto &fingerprint = *static_cast<Fingerprint *>(context);
    llvm::StringRef id = getBuildId(*object);
    fingerprint.add(id);
    if (!id.empty())
      return 0;
    // The program itself has no name here.
    std::string file = object->dlpi_name && *object->dlpi_name
                           ? object->dlpi_name
                           : llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&makeCompilerId));
    auto bytes = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (bytes)
      fingerprint.add((*bytes)->getBuffer());
    return 0;
  };
  dl_iterate_phdr(add, &fingerprint);
  return fingerprint.get();
}

const std::string &tenon::getCompilerId() {
  static const std::string id = makeCompilerId();
  return id;
}
