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
#include "llvm/Support/Path.h"
#include <elf.h>
#include <link.h>
#include <map>
#include <set>
#include <vector>

using namespace tenon;

/// Returns the build ID of an object, a hash of its content that linkers write; empty if there is none.
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

/// Returns the name under which other libraries require a library.
static std::string getLibraryName(const char *file) { return llvm::sys::path::filename(file ? file : "").str(); }

/// The libraries that a loaded object needs itself.
static std::vector<std::string> listNeeded(const link_map &object) {
  std::vector<uint64_t> offsets;
  const char *texts = nullptr;
  for (const ElfW(Dyn) *entry = object.l_ld; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED)
      offsets.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB)
      texts = reinterpret_cast<const char *>(entry->d_un.d_ptr);
  }
  std::vector<std::string> names;
  for (uint64_t offset : offsets)
    if (texts)
      names.push_back(getLibraryName(texts + offset));
  return names;
}

namespace {
/// Objects by name; the program itself has none.
using Objects = std::map<std::string, const link_map *>;
} // namespace

/// Adds an object and its transitive dependences to `reached`, except those that only objects of `except` need.
static void reach(const Objects &objects, const std::string &name, const std::set<std::string> &except,
                  std::set<std::string> &reached) {
  auto it = objects.find(name);
  if (it == objects.end() || except.contains(name) || !reached.insert(name).second)
    return;
  for (const std::string &needed : listNeeded(*it->second))
    reach(objects, needed, except, reached);
}

/// Lists the libraries that only remote caches need. They transfer bytes: the generated code does not depend on their
/// versions, which may differ between machines that share a cache.
static std::set<std::string> listTransports() {
  std::set<std::string> transports, kept, reached;
  Objects objects;
  for (const link_map *object = _r_debug.r_map; object; object = object->l_next) {
    std::string name = getLibraryName(object->l_name);
    objects.emplace(name, object);
    for (llvm::StringRef prefix : {"libcurl.so", "libhiredis.so", "libmicrohttpd.so", "libsodium.so"})
      if (llvm::StringRef(name).starts_with(prefix))
        transports.insert(name);
  }
  reach(objects, "", transports, kept);
  for (const std::string &name : transports)
    reach(objects, name, {}, reached);
  for (const std::string &name : kept)
    reached.erase(name);
  return reached;
}

namespace {
struct Collection {
  Fingerprint fingerprint;
  std::set<std::string> ignored = listTransports();
};
} // namespace

static std::string makeCompilerId() {
  Collection collection;
  auto add = [](dl_phdr_info *object, size_t, void *context) {
    auto &[fingerprint, ignored] = *static_cast<Collection *>(context);
    // The vDSO is no file, generates no code, and changes with the system.
    if (llvm::StringRef(object->dlpi_name).starts_with("linux-vdso") ||
        ignored.contains(getLibraryName(object->dlpi_name)))
      return 0;
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
  dl_iterate_phdr(add, &collection);
  return collection.fingerprint.get();
}

const std::string &tenon::getCompilerId() {
  static const std::string id = makeCompilerId();
  return id;
}
