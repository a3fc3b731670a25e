//===- SpilledWeights.cpp - computed weights in a file ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/SpilledWeights.h"
#include "compiler/import/ExternalFiles.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightStorage.h"
#include "runtime/base/FreeMemory.h"
#include "llvm/ADT/DenseMap.h"
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace tenon;

/// default: the minimal budget for computed weights in the heap, and for pages of files in memory. Smaller models are
/// compiled without a file.
static constexpr uint64_t kLeastBudget = uint64_t(64) << 20;
/// default: the fraction of free memory that weights may take, once in the heap and once as pages of files. Other
/// compilations may run at the same time, and the kernel needs room for pages of the output.
static constexpr uint64_t kFreeToBudget = 8;
/// limit: smaller weights stay in the heap, which is faster, and have few bytes in total.
static constexpr uint64_t kSmall = uint64_t(256) << 10;
/// limit: if less memory is free, written pages are synced to disk so that the kernel can evict them; otherwise a
/// control group would kill the process.
static constexpr uint64_t kShort = uint64_t(1) << 30;
/// The alignment of mappings on every compiling machine.
static constexpr uint64_t kPage = uint64_t(64) << 10; // limit: the largest page

namespace {

/// The file, and what of it is mapped.
class SpillFile {
public:
  explicit SpillFile(std::string folder) : folder(std::move(folder)) {}
  ~SpillFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  SpillFile(const SpillFile &) = delete;

  /// Writes bytes to the file and maps them; null if the disk is full, or if there is no file.
  const char *add(ArrayRef<char> bytes);
  void remove(const char *data, size_t size);
  void release();
  /// Syncs the file system of the file to disk, including the output if it is there.
  void sync();

private:
  bool open();
  bool write(ArrayRef<char> bytes, uint64_t at) const;

  std::string folder;
  std::mutex mutex;
  int descriptor = -1;
  bool isBroken = false;
  uint64_t end = 0;
  struct Place {
    uint64_t offset, size;
  };
  llvm::DenseMap<const char *, Place> places;
};

} // namespace

bool SpillFile::open() {
  if (descriptor >= 0 || isBroken)
    return descriptor >= 0;
  descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    std::string name = folder + "/tenon-weights-XXXXXX";
    descriptor = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0)
      unlink(name.c_str());
  }
  isBroken = descriptor < 0;
  return !isBroken;
}

bool SpillFile::write(ArrayRef<char> bytes, uint64_t at) const {
  while (!bytes.empty()) {
    ssize_t count = pwrite(descriptor, bytes.data(), bytes.size(), at);
    if (count <= 0)
      return false;
    bytes = bytes.drop_front(count);
    at += count;
  }
  return true;
}

const char *SpillFile::add(ArrayRef<char> bytes) {
  uint64_t offset;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!open())
      return nullptr;
    offset = end;
    end += llvm::alignTo(bytes.size(), kPage);
  }
  // Concurrent passes write to different offsets.
  void *data = write(bytes, offset)
                   ? mmap(nullptr, bytes.size(), PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(offset))
                   : MAP_FAILED;
  std::lock_guard<std::mutex> lock(mutex);
  if (data == MAP_FAILED) {
    isBroken = true;
    return nullptr;
  }
  places[static_cast<const char *>(data)] = {offset, bytes.size()};
  return static_cast<const char *>(data);
}

void SpillFile::remove(const char *data, size_t size) {
  std::lock_guard<std::mutex> lock(mutex);
  auto place = places.find(data);
  assert(place != places.end() && "a weight is removed once");
  munmap(const_cast<char *>(data), size);
  // The disk has room for another choice of paths.
  (void)fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place->second.offset,
                  llvm::alignTo(place->second.size, kPage));
  places.erase(place);
}

void SpillFile::release() {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto [data, place] : places)
    madvise(const_cast<char *>(data), place.size, MADV_DONTNEED);
}

void SpillFile::sync() {
  std::unique_lock<std::mutex> lock(mutex);
  int own = descriptor;
  lock.unlock();
  if (own >= 0)
    syncfs(own);
}

namespace {

class SpilledWeights : public WeightStorage {
public:
  SpilledWeights(Dialect *dialect, std::string folder, uint64_t budget, std::function<void(uint64_t)> onBytes)
      : WeightStorage(dialect), budget(budget), file(std::make_shared<SpillFile>(std::move(folder))),
        onBytes(std::move(onBytes)) {}

  AsmResourceBlob keep(AsmResourceBlob blob) const override;
  void noteRead(uint64_t bytes, bool isOutput) const override;

private:
  uint64_t budget;
  std::shared_ptr<SpillFile> file;
  std::function<void(uint64_t)> onBytes;
  /// The bytes in the heap that are not freed yet; they may outlive this interface.
  std::shared_ptr<std::atomic<uint64_t>> inHeap = std::make_shared<std::atomic<uint64_t>>(0);
  mutable std::atomic<uint64_t> inPages = 0;
};

} // namespace

AsmResourceBlob SpilledWeights::keep(AsmResourceBlob blob) const {
  ArrayRef<char> bytes = blob.getData();
  // A blob without a deleter is a part of another weight.
  bool isOwn = static_cast<bool>(blob.getDeleter());
  if (isOwn && onBytes)
    onBytes(bytes.size());
  if (!isOwn || bytes.size() < kSmall)
    return blob;
  if (inHeap->fetch_add(bytes.size()) + bytes.size() <= budget)
    return AsmResourceBlob(
        bytes, blob.getDataAlignment(),
        [free = std::move(blob.getDeleter()), inHeap = inHeap](void *data, size_t size, size_t alignment) mutable {
          free(data, size, alignment);
          *inHeap -= size;
        },
        blob.isMutable());
  *inHeap -= bytes.size();
  const char *kept = file->add(bytes);
  if (!kept)
    return blob;
  size_t alignment = blob.getDataAlignment();
  AsmResourceBlob spilled = UnmanagedAsmResourceBlob::allocateWithAlign(
      ArrayRef(kept, bytes.size()), std::min<size_t>(alignment, kPage),
      [file = file](void *data, size_t size, size_t) { file->remove(static_cast<const char *>(data), size); });
  // It was made of about as many bytes of others.
  noteRead(bytes.size(), /*isOutput=*/false);
  return spilled;
}

void SpilledWeights::noteRead(uint64_t bytes, bool isOutput) const {
  if (isOutput && onBytes)
    onBytes(bytes);
  if (inPages.fetch_add(bytes) + bytes < budget)
    return;
  inPages = 0;
  if (rt::freeMemory() < kShort)
    file->sync();
  file->release();
  MappedFile::releaseAll();
}

void tenon::registerSpilledWeights(DialectRegistry &registry, std::string folder, uint64_t budget,
                                   std::function<void(uint64_t bytes)> onBytes) {
  struct Extension : DialectExtension<Extension, TenonDialect> {
    Extension(std::string folder, uint64_t budget, std::function<void(uint64_t)> onBytes)
        : folder(std::move(folder)), budget(budget), onBytes(std::move(onBytes)) {}
    void apply(MLIRContext *, TenonDialect *dialect) const override {
      dialect->addInterface<SpilledWeights>(folder, budget, onBytes);
    }
    std::string folder;
    uint64_t budget;
    std::function<void(uint64_t)> onBytes;
  };
  if (budget == 0)
    budget = std::max(kLeastBudget, rt::freeMemory() / kFreeToBudget);
  registry.addExtension(TypeID::get<SpilledWeights>(),
                        std::make_unique<Extension>(std::move(folder), budget, std::move(onBytes)));
}
