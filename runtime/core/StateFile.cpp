//===- StateFile.cpp - the states of a slot in a file ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header, for each state how many rows were written, and then its live rows, one
// state after the other. A file that is restored may come from anywhere: its model,
// its size and its numbers are checked, and its hash, before the slot changes.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/StateStore.h"

#include "runtime/base/FreeMemory.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::rt {

namespace {
struct Header {
  char magic[8];
  uint64_t model;  // hash of the file that was compiled
  uint64_t layout; // StateStore::layoutHash
  uint64_t bytes;  // that follow
  uint64_t hash;   // of these
};

constexpr char kMagic[8] = {'T', 'E', 'N', 'S', 'T', 'A', 'T', 1};

/// A file that is written under a temporary name and renamed when it is complete.
class NewFile {
public:
  ~NewFile() {
    if (descriptor >= 0)
      close(descriptor);
    if (!temporary.empty())
      unlink(temporary.c_str());
  }
  Status open(const char *path);
  Status write(const void *data, uint64_t size);
  Status finish();

private:
  Status failure(const char *what) const {
    return Status::make(TENON_RESOURCES, "%s '%s': %s", what, target, strerror(errno));
  }

  const char *target = nullptr;
  std::string temporary;
  int descriptor = -1;
};
} // namespace

Status NewFile::open(const char *path) {
  target = path;
  std::string name = std::string(path) + ".XXXXXX";
  descriptor = mkstemp(name.data());
  if (descriptor < 0)
    return failure("cannot write");
  temporary = std::move(name);
  return {};
}

Status NewFile::write(const void *data, uint64_t size) {
  const auto *next = static_cast<const uint8_t *>(data);
  while (size) {
    ssize_t written = ::write(descriptor, next, size_t(std::min<uint64_t>(size, 1u << 30)));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return failure("cannot write");
    next += written;
    size -= uint64_t(written);
  }
  return {};
}

Status NewFile::finish() {
  if (fsync(descriptor) != 0 || rename(temporary.c_str(), target) != 0)
    return failure("cannot write");
  temporary.clear();
  return {};
}

/// Returns a hash of the layout of the states, which must be equal for states to be interchangeable.
uint64_t StateStore::layoutHash() const {
  uint64_t hash = 0;
  for (const State &state : plan().states) {
    const int64_t *dims = plan().stateDims.data() + state.dims.begin;
    uint64_t facts[] = {hash, uint64_t(state.dtype), uint64_t(state.kind), hashBytes(state.name, strlen(state.name)),
                        hashBytes(dims, state.dims.count * sizeof *dims)};
    hash = hashBytes(facts, sizeof facts);
  }
  return hash;
}

Status StateStore::save(uint32_t index, const char *path) {
  TENON_TRY(checkSlot(index));
  Slot &slot = slots[index];
  if (slot.isBroken)
    return Status::make(TENON_MISUSE, "slot %u has nothing to save: the run before has failed", index);
  TENON_TRY(reserve(slot));
  uint64_t size = sizeof(Header) + slot.counts.size() * sizeof(int64_t);
  for (size_t i = 0; i < slot.counts.size(); ++i)
    size += liveBytes(plan().states[i], slot.counts[i]);
  Memory contents;
  TENON_TRY(checkFreeMemory(size, "a state file"));
  TENON_TRY(contents.reserve(size, false, "a state file"));
  uint8_t *next = contents.bytes() + sizeof(Header);
  if (!slot.counts.empty())
    memcpy(next, slot.counts.data(), slot.counts.size() * sizeof(int64_t));
  next += slot.counts.size() * sizeof(int64_t);
  for (size_t i = 0; i < slot.counts.size(); ++i) {
    const State &state = plan().states[i];
    uint64_t bytes = liveBytes(state, slot.counts[i]);
    if (bytes)
      TENON_TRY(queue.read(next, slot.memory->address() + state.offset, bytes));
    next += bytes;
  }
  Header header{};
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.model = artifact.header().sourceHash;
  header.layout = layoutHash();
  header.bytes = size - sizeof header;
  header.hash = hashBytes(contents.bytes() + sizeof header, header.bytes);
  memcpy(contents.bytes(), &header, sizeof header);
  NewFile file;
  TENON_TRY(file.open(path));
  TENON_TRY(file.write(contents.bytes(), size));
  return file.finish();
}

/// Reads a file of at most `most` bytes. It is read, not mapped: even if others modify or truncate it, the verified
/// bytes are the ones that are used.
static Status readWhole(const char *path, uint64_t most, Memory *contents, uint64_t *size) {
  // Without O_NONBLOCK, opening a named pipe would block until somebody writes to it.
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return Status::make(TENON_INVALID, "state file '%s' cannot be opened: %s", path, strerror(errno));
  struct stat info;
  bool isFile = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  Status status;
  if (!isFile || uint64_t(info.st_size) > most)
    status = Status::make(TENON_INVALID, "state file '%s' is %s", path,
                          isFile ? "larger than the states of this model" : "not a regular file");
  *size = 0;
  if (!status.failed())
    status = checkFreeMemory(uint64_t(info.st_size), "a state file");
  if (!status.failed())
    status = contents->reserve(uint64_t(info.st_size), false, "a state file");
  while (!status.failed() && *size < uint64_t(info.st_size)) {
    ssize_t count = read(file, contents->bytes() + *size, size_t(uint64_t(info.st_size) - *size));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      status = Status::make(TENON_INVALID, "state file '%s' cannot be read: %s", path, strerror(errno));
    if (count <= 0)
      break;
    *size += uint64_t(count);
  }
  close(file);
  return status;
}

/// Reads the row counts of a file, or reports why it does not match this model.
Status StateStore::checkFile(const char *path, const uint8_t *bytes, uint64_t size,
                             std::vector<int64_t> &counts) const {
  auto refuse = [&](const char *why) { return Status::make(TENON_INVALID, "state file '%s' %s", path, why); };
  Header header;
  if (size < sizeof header)
    return refuse("is cut short");
  memcpy(&header, bytes, sizeof header);
  if (memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return refuse("is not a state file, or of another version");
  if (header.model != artifact.header().sourceHash || header.layout != layoutHash())
    return refuse("is of another model, or of other capacities");
  uint64_t wanted = counts.size() * sizeof(int64_t);
  if (header.bytes != size - sizeof header || header.bytes < wanted)
    return refuse("is cut short, or longer than it says");
  if (hashBytes(bytes + sizeof header, header.bytes) != header.hash)
    return refuse("is damaged: its bytes do not have the hash that it says");
  if (wanted)
    memcpy(counts.data(), bytes + sizeof header, wanted);
  for (size_t i = 0; i < counts.size(); ++i) {
    const State &state = plan().states[i];
    int64_t limit = state.kind == StateKind::whole     ? 0
                    : state.kind == StateKind::growing ? state.capacity
                                                       : 2 * state.capacity - 1;
    if (counts[i] < 0 || counts[i] > limit)
      return refuse("has more rows than there is memory for");
    wanted += liveBytes(state, counts[i]);
  }
  return wanted == header.bytes ? Status() : refuse("has another size than its rows");
}

/// Returns how many bytes so many rows would write for the first time.
uint64_t StateStore::countNew(const Slot &slot, const std::vector<int64_t> &counts) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i)
    sum += std::max(slot.used[i], liveBytes(plan().states[i], counts[i])) - slot.used[i];
  return sum;
}

Status StateStore::restore(uint32_t index, const char *path) {
  TENON_TRY(checkSlot(index));
  Slot &slot = slots[index];
  std::vector<int64_t> counts(slot.counts.size());
  Memory contents;
  uint64_t size, most = sizeof(Header) + counts.size() * sizeof(int64_t) + plan().stateSize;
  TENON_TRY(readWhole(path, most, &contents, &size));
  TENON_TRY(checkFile(path, contents.bytes(), size, counts));
  if (artifact.device().properties().isHostAddressable)
    TENON_TRY(checkFreeMemory(countNew(slot, counts), "states"));
  TENON_TRY(reserve(slot));
  // What it shares is overwritten at once, and would be copied page by page.
  if (unshare(slot) == Remapping::lost) {
    discard(slot);
    slot.isBroken = true;
    TENON_TRY(reserve(slot));
  }
  const uint8_t *next = contents.bytes() + sizeof(Header) + counts.size() * sizeof(int64_t);
  for (size_t i = 0; i < counts.size(); ++i) {
    const State &state = plan().states[i];
    uint64_t bytes = liveBytes(state, counts[i]);
    if (bytes)
      TENON_TRY(queue.write(slot.memory->address() + state.offset, next, bytes));
    next += bytes;
    slot.used[i] = std::max(slot.used[i], bytes);
  }
  slot.counts = std::move(counts);
  slot.isBroken = false;
  ++changes;
  return {};
}

} // namespace tenon::rt
