//===- Checkpoint.cpp - the weights of a model, in one file or many -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Checkpoint.h"
#include "compiler/errors/CompileError.h"
#include "compiler/graph/Elements.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::huggingface;

static constexpr char kSingleFile[] = "model.safetensors";
static constexpr char kIndexFile[] = "model.safetensors.index.json";

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool Checkpoint::readFile(StringRef name, llvm::StringMap<Entry> &found) {
  llvm::Expected<std::shared_ptr<const MappedFile>> file = files.open(name);
  if (!file) {
    report.add(prefixError(file.takeError(), name + " cannot be read: "));
    return false;
  }
  llvm::Expected<llvm::StringMap<StoredTensor>> stored = readSafetensors((*file)->getBytes(), context);
  if (!stored) {
    report.add(prefixError(stored.takeError(), name + ": "));
    return false;
  }
  for (auto &entry : *stored)
    found[entry.first()] = {std::move(entry.second), *file};
  return true;
}

bool Checkpoint::readShards(const Json &index) {
  auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object()) {
    report.add(ImportFault::invalidModel, Twine(kIndexFile) + " has no weight_map");
    return false;
  }
  llvm::StringMap<llvm::StringMap<Entry>> shards;
  for (const auto &[name, shard] : map->items()) {
    if (!shard.is_string()) {
      report.add(ImportFault::invalidModel, Twine(kIndexFile) + " names no file for '" + name + "'");
      return false;
    }
    std::string file = shard.get<std::string>();
    auto [it, isNew] = shards.try_emplace(file);
    if (isNew && !readFile(file, it->second))
      return false;
    auto entry = it->second.find(name);
    if (entry == it->second.end()) {
      report.add(ImportFault::invalidModel, file + " does not hold '" + name + "', which " + kIndexFile + " says");
      return false;
    }
    tensors[name] = entry->second;
  }
  return true;
}

bool Checkpoint::read() {
  llvm::Error singleError = files.open(kSingleFile).takeError();
  if (!singleError)
    return readFile(kSingleFile, tensors);
  std::string singleReason = llvm::toString(std::move(singleError));
  llvm::Expected<std::shared_ptr<const MappedFile>> file = files.open(kIndexFile);
  if (!file) {
    report.add(ImportFault::invalidModel, Twine("has no weights: ") + kSingleFile + " cannot be read (" + singleReason +
                                              "), nor can " + kIndexFile + " (" + llvm::toString(file.takeError()) +
                                              ")");
    return false;
  }
  llvm::Expected<Json> index = parseJsonObject((*file)->getBytes());
  if (index)
    return readShards(*index);
  report.add(prefixError(index.takeError(), Twine(kIndexFile) + " "));
  return false;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static std::string shapeToString(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "a number" : text;
}

int64_t Checkpoint::countRows(StringRef name) const {
  auto it = tensors.find(name);
  return it == tensors.end() || it->second.tensor.shape.empty() ? 1 : it->second.tensor.shape.front();
}

Checkpoint::Entry *Checkpoint::find(StringRef name, ArrayRef<int64_t> shape) {
  auto it = tensors.find(name);
  if (it == tensors.end()) {
    missing.push_back(name.str());
    return nullptr;
  }
  if (ArrayRef(it->second.tensor.shape) == shape)
    return &it->second;
  misshapen.push_back(name.str() + " is " + shapeToString(it->second.tensor.shape) + " and not " +
                      shapeToString(shape));
  return nullptr;
}

ElementsAttr Checkpoint::get(StringRef name, ArrayRef<int64_t> shape) {
  Entry *entry = find(name, shape);
  if (!entry)
    return {};
  if (entry->elements)
    return entry->elements;
  const StoredTensor &tensor = entry->tensor;
  if (!isa_and_nonnull<FloatType>(tensor.elementType)) {
    unsupported.push_back(name.str() + " is " + tensor.dtype);
    return {};
  }
  return entry->elements =
             makeElements(RankedTensorType::get(shape, tensor.elementType), tensor.bytes, entry->file, name);
}

std::optional<ArrayRef<char>> Checkpoint::getBytes(StringRef name, ArrayRef<int64_t> shape, StringRef dtype) {
  const Entry *entry = find(name, shape);
  if (!entry)
    return std::nullopt;
  if (entry->tensor.dtype == dtype)
    return entry->tensor.bytes;
  unsupported.push_back(name.str() + " is " + entry->tensor.dtype + " and not " + dtype.str());
  return std::nullopt;
}

/// The first of many, and how many more there are.
static std::string listSome(ArrayRef<std::string> texts) {
  constexpr size_t kShown = 20;
  std::string list = llvm::join(texts.take_front(kShown), ", ");
  return texts.size() > kShown ? list + " and " + std::to_string(texts.size() - kShown) + " more" : list;
}

void Checkpoint::reportFaults(StringRef architecture) {
  auto count = [](ArrayRef<std::string> texts) {
    return std::to_string(texts.size()) + (texts.size() == 1 ? " weight" : " weights");
  };
  if (!missing.empty())
    report.add(ImportFault::invalidModel,
               "lacks " + count(missing) + " that " + architecture + " needs: " + listSome(missing));
  if (!misshapen.empty())
    report.add(ImportFault::invalidModel,
               "has " + count(misshapen) + " of another shape than config.json says: " + listSome(misshapen));
  if (!unsupported.empty())
    report.add(ImportFault::unsupported,
               "has " + count(unsupported) + " of a type that is not supported: " + listSome(unsupported));
}
