//===- WeightReferences.cpp - weights of IR that are in files --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/WeightReferences.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/ExternalFiles.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <mutex>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

uint64_t tenon::hashWeight(ArrayRef<char> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

static constexpr StringLiteral kAt = " bytes at ", kOf = " of ", kIn = " in ", kHash = ", xxh3 ";

std::string WeightReference::print() const {
  return (Twine(size) + kAt + Twine(offset) + kOf + file + kIn + folder + kHash +
          llvm::utohexstr(hash, /*LowerCase=*/true, 16))
      .str();
}

std::optional<WeightReference> WeightReference::parse(StringRef text) {
  WeightReference reference;
  auto [place, hash] = text.rsplit(kHash);
  auto [range, files] = place.split(kOf);
  auto [size, offset] = range.split(kAt);
  auto [file, folder] = files.split(kIn);
  reference.file = file.str();
  reference.folder = folder.str();
  bool isWrong = size.getAsInteger(10, reference.size) || offset.getAsInteger(10, reference.offset) ||
                 hash.getAsInteger(16, reference.hash) || file.empty() || folder.empty();
  if (isWrong || reference.print() != text)
    return std::nullopt;
  return reference;
}

namespace {

class WeightReader : public OpAsmDialectInterface {
public:
  WeightReader(Dialect *dialect, std::function<void(llvm::StringRef, uint64_t)> onFile)
      : OpAsmDialectInterface(dialect), onFile(std::move(onFile)) {}

  /// Weights are resources of the builtin dialect; the resources declared here are only references to them.
  FailureOr<AsmDialectResourceHandle> declareResource(StringRef key) const override {
    std::lock_guard<std::mutex> lock(mutex);
    auto name = keys.insert(key).first;
    return AsmDialectResourceHandle(&*name, TypeID::get<WeightReference>(), getDialect());
  }
  std::string getResourceKey(const AsmDialectResourceHandle &handle) const override {
    return static_cast<Key *>(handle.getResource())->getKey().str();
  }

  LogicalResult parseResource(AsmParsedResourceEntry &entry) const override;

private:
  using Key = llvm::StringSet<>::value_type;

  llvm::Expected<AsmResourceBlob> read(const WeightReference &reference, StringRef folder) const;

  std::function<void(llvm::StringRef, uint64_t)> onFile;
  mutable std::mutex mutex;
  mutable llvm::StringSet<> keys;
  mutable llvm::StringMap<std::unique_ptr<ExternalFiles>> folders; ///< by their paths
};

} // namespace

llvm::Expected<AsmResourceBlob> WeightReader::read(const WeightReference &reference, StringRef folder) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<ExternalFiles> &files = folders[folder];
  if (!files)
    files = std::make_unique<ExternalFiles>(folder.str(), onFile);
  llvm::Expected<std::shared_ptr<const MappedFile>> file = files->open(reference.file);
  if (!file)
    return file.takeError();
  ArrayRef<char> bytes = (*file)->getBytes();
  if (reference.offset > bytes.size() || bytes.size() - reference.offset < reference.size)
    return makeError(CompileStatus::invalid, "it has no more than " + Twine(bytes.size()) + " bytes");
  bytes = bytes.slice(reference.offset, reference.size);
  if (hashWeight(bytes) != reference.hash)
    return makeError(CompileStatus::invalid, "the bytes are not those that this IR was printed with");
  constexpr size_t kAlign = alignof(int64_t);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlign != 0)
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, kAlign, /*dataIsMutable=*/false);
  return UnmanagedAsmResourceBlob::allocateWithAlign(bytes, kAlign, [file = *file](void *, size_t, size_t) {});
}

/// The folder of the file that is parsed.
static std::string getFolder(AsmParsedResourceEntry &entry) {
  InFlightDiagnostic diagnostic = entry.emitError();
  auto place = dyn_cast<FileLineColLoc>(diagnostic.getUnderlyingDiagnostic()->getLocation());
  diagnostic.abandon();
  return place ? llvm::sys::path::parent_path(place.getFilename().strref()).str() : "";
}

LogicalResult WeightReader::parseResource(AsmParsedResourceEntry &entry) const {
  FailureOr<std::string> text = entry.parseAsString();
  if (failed(text))
    return failure();
  DialectResourceBlobManager &weights = DenseResourceElementsHandle::getManagerInterface(getContext()).getBlobManager();
  DialectResourceBlobManager::BlobEntry *weight = weights.lookup(entry.getKey());
  // No operation refers to it, or its bytes are in the text itself.
  if (!weight || weight->getBlob())
    return success();
  if (StringRef reason = *text; reason.consume_front(kNoWeightBytes))
    return entry.emitError() << "the weight '" << entry.getKey() << "' cannot be read again: " << reason;
  std::optional<WeightReference> reference = WeightReference::parse(*text);
  if (!reference)
    return entry.emitError() << "the weight '" << entry.getKey() << "' needs a place such as '"
                             << WeightReference{64, 0, "model.onnx", "..", 0}.print() << "', not '" << *text << "'";
  bool isAbsolute = llvm::sys::path::is_absolute(reference->folder);
  llvm::SmallString<128> folder(isAbsolute ? "" : getFolder(entry));
  llvm::sys::path::append(folder, reference->folder);
  llvm::Expected<AsmResourceBlob> blob = read(*reference, folder);
  if (!blob)
    return entry.emitError() << "the weight '" << entry.getKey() << "' cannot be read from '" << reference->file
                             << "' in '" << folder << "': " << llvm::toString(blob.takeError());
  weight->setBlob(std::move(*blob));
  return success();
}

namespace {
class WeightReferences : public DialectExtension<WeightReferences, TenonDialect> {
public:
  explicit WeightReferences(std::function<void(llvm::StringRef, uint64_t)> onFile) : onFile(std::move(onFile)) {}
  void apply(MLIRContext *, TenonDialect *dialect) const override { dialect->addInterface<WeightReader>(onFile); }

private:
  std::function<void(llvm::StringRef, uint64_t)> onFile;
};
} // namespace

void tenon::registerWeightReferences(DialectRegistry &registry, std::function<void(llvm::StringRef, uint64_t)> onFile) {
  registry.addExtension(TypeID::get<WeightReferences>(), std::make_unique<WeightReferences>(std::move(onFile)));
}
