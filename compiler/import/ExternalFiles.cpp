//===- ExternalFiles.cpp - the files beside a model that hold its tensors -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ExternalFiles.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace tenon;

static llvm::Error invalid(const llvm::Twine &text) { return makeError(CompileStatus::invalid, text); }

llvm::Expected<std::shared_ptr<const MappedFile>> MappedFile::map(int descriptor, std::string name) {
  auto closing = llvm::scope_exit([&] { close(descriptor); });
  struct stat info;
  void *data = nullptr;
  if (fstat(descriptor, &info) != 0)
    return invalid(std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return invalid("is no regular file");
  if (info.st_size > 0 && (data = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0)) == MAP_FAILED)
    return invalid(std::strerror(errno));
  auto file =
      std::shared_ptr<MappedFile>(new MappedFile(static_cast<const char *>(data), static_cast<size_t>(info.st_size)));
  // A sparse file is larger than the data that was written to it.
  constexpr uint64_t kBlockBytes = 512;
  file->name = std::move(name);
  file->bytesOnDisk = std::min<uint64_t>(info.st_size, static_cast<uint64_t>(info.st_blocks) * kBlockBytes);
  return file;
}

/// All that live.
static llvm::SmallPtrSet<const MappedFile *, 8> mapped;
static std::mutex mappedMutex;

MappedFile::MappedFile(const char *data, size_t size) : data(data), size(size) {
  std::lock_guard<std::mutex> lock(mappedMutex);
  mapped.insert(this);
}

MappedFile::~MappedFile() {
  {
    std::lock_guard<std::mutex> lock(mappedMutex);
    mapped.erase(this);
  }
  if (data)
    munmap(const_cast<char *>(data), size);
}

void MappedFile::release(llvm::ArrayRef<char> part) const {
  uintptr_t page = sysconf(_SC_PAGESIZE), begin = reinterpret_cast<uintptr_t>(part.data()) / page * page,
            end = reinterpret_cast<uintptr_t>(part.end());
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

std::vector<std::pair<std::string, llvm::ArrayRef<char>>> MappedFile::listNamed() {
  std::lock_guard<std::mutex> lock(mappedMutex);
  std::vector<std::pair<std::string, llvm::ArrayRef<char>>> named;
  for (const MappedFile *file : mapped)
    if (!file->name.empty())
      named.emplace_back(file->name, file->getBytes());
  llvm::sort(named, [](const auto &a, const auto &b) {
    return std::tuple(llvm::StringRef(a.first), a.second.data()) <
           std::tuple(llvm::StringRef(b.first), b.second.data());
  });
  return named;
}

void MappedFile::releaseAll() {
  std::lock_guard<std::mutex> lock(mappedMutex);
  for (const MappedFile *file : mapped)
    file->release(file->getBytes());
}

ExternalFiles::~ExternalFiles() {
  if (folderDescriptor >= 0)
    close(folderDescriptor);
}

llvm::Expected<int> ExternalFiles::openBeneath(const std::string &location) {
  if (folder.empty())
    return invalid("there is no folder to look for it");
  if (folderDescriptor < 0)
    folderDescriptor = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folderDescriptor < 0)
    return invalid(llvm::Twine("the model's folder cannot be opened: ") + std::strerror(errno));
  open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; // A pipe must not make us wait.
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long descriptor = syscall(SYS_openat2, folderDescriptor, location.c_str(), &how, sizeof(how));
  if (descriptor < 0)
    return invalid(errno == EXDEV ? "it lies outside of the model's folder"
                   : errno == ELOOP
                       ? "it is reached through a symbolic link, which is refused; put the file itself there"
                       : std::strerror(errno));
  return static_cast<int>(descriptor);
}

llvm::Expected<std::shared_ptr<const MappedFile>> ExternalFiles::open(llvm::StringRef location) {
  auto it = files.find(location);
  if (it != files.end())
    return it->second;
  if (location.contains('\0'))
    return invalid("its name holds a zero byte");
  llvm::Expected<int> descriptor = openBeneath(location.str());
  if (!descriptor)
    return descriptor.takeError();
  llvm::Expected<std::shared_ptr<const MappedFile>> file =
      MappedFile::map(*descriptor, givesNames ? location.str() : "");
  if (!file)
    return file.takeError();
  if (onFile)
    onFile(folder + "/" + location.str(), (*file)->getBytesOnDisk());
  files[location] = *file;
  return file;
}

uint64_t ExternalFiles::hash() const {
  llvm::SmallVector<llvm::StringRef> names(files.keys());
  llvm::sort(names);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (llvm::StringRef name : names) {
    llvm::ArrayRef<char> bytes = files.find(name)->second->getBytes();
    uint64_t sizes[] = {name.size(), bytes.size()};
    XXH3_64bits_update(&state, sizes, sizeof(sizes));
    XXH3_64bits_update(&state, name.data(), name.size());
    // limit: bytes that are in memory at a time.
    constexpr size_t kPart = size_t(16) << 20;
    for (; !bytes.empty(); bytes = bytes.drop_front(std::min(bytes.size(), kPart))) {
      llvm::ArrayRef<char> part = bytes.take_front(kPart);
      XXH3_64bits_update(&state, part.data(), part.size());
      files.find(name)->second->release(part);
    }
  }
  return XXH3_64bits_digest(&state);
}
