//===- WeightBytes.cpp - the elements of a weight as they lie in memory ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/WeightBytes.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightStorage.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <mutex>

using namespace mlir;

/// Separates the name of a weight from the suffix for derived weights.
static constexpr StringLiteral kDerivedName = " (";

std::optional<ArrayRef<char>> tenon::getBytes(ElementsAttr value) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return resource.getRawHandle().getBlob()->getData();
  auto dense = cast<DenseElementsAttr>(value);
  if (dense.isSplat())
    return std::nullopt;
  return dense.getRawData();
}

StringAttr tenon::deriveName(StringAttr name, StringRef how) {
  if (!name)
    return {};
  StringRef text = name;
  bool isDerived = text.ends_with(")") && text.contains(kDerivedName);
  return StringAttr::get(name.getContext(),
                         isDerived ? text.drop_back() + ", " + how + ")" : text + kDerivedName + how + ")");
}

const tenon::WeightStorage *tenon::WeightStorage::get(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<TenonDialect>();
  return dialect ? dialect->getRegisteredInterface<WeightStorage>() : nullptr;
}

/// Held from the search for a resource to its insertion: otherwise two threads could insert the same bytes, and the
/// second one would get a counted name.
static std::mutex insertion;

DenseResourceElementsAttr tenon::createElements(RankedTensorType type, StringRef prefix, AsmResourceBlob blob) {
  assert(!prefix.empty() && "a name says what computed the weight");
  ArrayRef<char> bytes = blob.getData();
  assert(static_cast<int64_t>(bytes.size()) ==
             type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8) &&
         "a resource has the bytes that its type needs");
  uint64_t hash = llvm::xxh3_64bits(StringRef(bytes.data(), bytes.size()));
  std::string name = (prefix + "_" + llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16)).str();
  MLIRContext *context = type.getContext();
  auto &manager = DenseResourceElementsHandle::getManagerInterface(context).getBlobManager();
  const WeightStorage *storage = WeightStorage::get(context);
  auto find = [&]() -> DenseResourceElementsAttr {
    DialectResourceBlobManager::BlobEntry *known = manager.lookup(name);
    // In a module that was parsed from text, the name may belong to other bytes.
    if (!known || !known->getBlob() || known->getBlob()->getData() != bytes)
      return {};
    if (storage)
      storage->noteRead(bytes.size(), /*isOutput=*/false);
    return DenseResourceElementsAttr::get(type, {known, context->getLoadedDialect<BuiltinDialect>()});
  };
  std::unique_lock<std::mutex> lock(insertion);
  if (DenseResourceElementsAttr known = find())
    return known;
  if (storage) {
    // Other threads need not wait while this one copies the bytes.
    lock.unlock();
    blob = storage->keep(std::move(blob));
    bytes = blob.getData();
    lock.lock();
    if (DenseResourceElementsAttr known = find())
      return known;
  }
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}
