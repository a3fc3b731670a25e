//===- SharedPages.cpp - memory that is copied when it is written --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/SharedPages.h"

#include "runtime/base/Memory.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tenon::rt {

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U // Linux 6.3; older headers do not name it
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1; older headers do not name it
#endif

uint64_t pageSize() {
  static const uint64_t size = uint64_t(sysconf(_SC_PAGESIZE));
  return size;
}

[[maybe_unused]] static bool areWholePages(const void *address, uint64_t bytes) {
  return (reinterpret_cast<uintptr_t>(address) | bytes) % pageSize() == 0;
}

std::shared_ptr<SharedPages> SharedPages::create(uint64_t bytes) {
  assert(bytes && bytes % pageSize() == 0 && "whole pages are shared");
  // A file beyond this limit would end the process by a signal.
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < bytes)
    return nullptr;
  constexpr const char *kName = "tenon-states"; // that /proc shows
  int file = memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (file < 0 && errno == EINVAL)
    file = memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0)
    return nullptr;
  std::shared_ptr<SharedPages> pages(new SharedPages(file));
  return ftruncate(file, off_t(bytes)) == 0 ? pages : nullptr;
}

SharedPages::~SharedPages() { close(file); }

bool SharedPages::writeSmall(uint64_t offset, const uint8_t *from, uint64_t bytes) {
  while (bytes) {
    ssize_t written = pwrite(file, from, size_t(std::min<uint64_t>(bytes, 1u << 30)), off_t(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    from += written;
    offset += uint64_t(written);
    bytes -= uint64_t(written);
  }
  return true;
}

/// Writes whole huge pages. Files like this one get small pages unless the administrator has chosen otherwise, one by
/// one; these take several times as long to write and to map. So a byte of each huge page is written, and the system is
/// asked to make it one before it is filled.
bool SharedPages::writeHuge(uint64_t offset, const uint8_t *from, uint64_t bytes) {
  assert((offset | bytes) % kHugePage == 0 && "whole huge pages are written");
  void *reserved = mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return writeSmall(offset, from, bytes);
  uint8_t *view = static_cast<uint8_t *>(reserved) + (-reinterpret_cast<uintptr_t>(reserved) & (kHugePage - 1));
  bool isHuge = mmap(view, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, off_t(offset)) != MAP_FAILED;
  for (uint64_t done = 0; done < bytes && isHuge; done += kHugePage)
    isHuge = writeSmall(offset + done, from + done, 1);
  // One call for all of them: each waits for all processors.
  isHuge = isHuge && madvise(view, bytes, MADV_COLLAPSE) == 0;
  if (isHuge)
    memcpy(view, from, bytes);
  munmap(reserved, bytes + kHugePage);
  return isHuge || writeSmall(offset, from, bytes);
}

bool SharedPages::write(uint64_t offset, const uint8_t *from, uint64_t bytes) {
  uint64_t front = std::min(bytes, -offset & (kHugePage - 1)), middle = (bytes - front) & ~(kHugePage - 1);
  uint64_t back = front + middle;
  return writeSmall(offset, from, front) && (!middle || writeHuge(offset + front, from + front, middle)) &&
         writeSmall(offset + back, from + back, bytes - back);
}

bool SharedPages::seal() {
  return fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
}

/// Moves a new mapping over memory. To map there at once would leave a hole if the system refused it: it removes what
/// was there first. What fails for lack of mappings or address space fails here before anything is removed.
static Remapping moveOver(void *made, uint8_t *address, uint64_t bytes) {
  if (made == MAP_FAILED)
    return Remapping::refused;
  if (mremap(made, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, address) == address)
    return Remapping::done;
  munmap(made, bytes);
  // Reads the state of the first page and the last one: these are gone if any is.
  unsigned char resident;
  bool isThere =
      mincore(address, pageSize(), &resident) == 0 && mincore(address + bytes - pageSize(), pageSize(), &resident) == 0;
  return isThere ? Remapping::refused : Remapping::lost;
}

Remapping SharedPages::mapOver(uint8_t *address, uint64_t offset, uint64_t bytes) const {
  assert(areWholePages(address, bytes) && offset % pageSize() == 0 && "whole pages are mapped");
  return moveOver(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, off_t(offset)),
                  address, bytes);
}

Remapping mapFresh(uint8_t *address, uint64_t bytes) {
  assert(areWholePages(address, bytes) && "whole pages are mapped");
  Remapping result =
      moveOver(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), address, bytes);
  // As in Memory. Huge pages begin at multiples of their size, whatever part of the memory this is.
  if (result == Remapping::done)
    madvise(address, bytes, MADV_HUGEPAGE);
  return result;
}

uint64_t countUnwritten(const uint8_t *address, uint64_t bytes) {
  assert(areWholePages(address, bytes) && "whole pages are looked at");
  // format: of /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst). A page that is in memory or swapped, and
  // not of a file, is this process's own.
  constexpr uint64_t kPresent = uint64_t(1) << 63, kSwapped = uint64_t(1) << 62, kOfFile = uint64_t(1) << 61;
  int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  uint64_t first = reinterpret_cast<uintptr_t>(address) / pageSize(), count = bytes / pageSize(), done = 0;
  for (bool isOver = false; !isOver && done < count;) {
    uint64_t entries[512];
    size_t wanted = size_t(std::min<uint64_t>(count - done, 512)) * sizeof *entries;
    if (pread(file, entries, wanted, off_t((first + done) * sizeof *entries)) != ssize_t(wanted))
      break;
    for (size_t i = 0; i < wanted / sizeof *entries && !isOver; ++i) {
      isOver = (entries[i] & (kPresent | kSwapped)) && !(entries[i] & kOfFile);
      done += !isOver;
    }
  }
  close(file);
  return done * pageSize();
}

} // namespace tenon::rt
