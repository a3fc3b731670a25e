//===- WeightPlaces.cpp - where printed IR can read its weights again ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/WeightPlaces.h"
#include "compiler/import/WeightReferences.h"
#include "compiler/import/huggingface/Safetensors.h"
#include "compiler/import/onnx/StoredBytes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <filesystem>

using namespace mlir;
using namespace tenon;

/// The maximal size of the file for computed weights, so that a large model does not fill the disk.
static constexpr uint64_t kMaxWrittenBytes = uint64_t(256) << 20;
/// The maximal size of computed weights in IR that is printed to a stream, which takes twice as much text.
static constexpr uint64_t kMaxPrintedBytes = uint64_t(16) << 20;
/// The alignment of bytes in the file: a cache line, which is a multiple of every element size, so that they can be
/// read in place.
static constexpr uint64_t kWeightAlign = 64;

WeightPlaces::WeightPlaces(std::string model, std::string folder, std::string file)
    : model(std::move(model)), folder(std::move(folder)), file(std::move(file)) {}

void WeightPlaces::add(const std::string &name, ArrayRef<char> all, uint64_t offset, uint64_t size) {
  if (offset <= all.size() && size <= all.size() - offset && size > 0)
    bySize[size].push_back({all.slice(offset, size), name, offset});
}

void WeightPlaces::readOnnx(const std::string &name) {
  // Weights in files that cannot be opened are treated as absent.
  auto opened = llvm::expectedToOptional(files->open(name));
  if (!opened)
    return;
  for (const StoredBytes &stored : listStoredBytes((*opened)->getBytes())) {
    const std::string &holder = stored.file.empty() ? name : stored.file;
    if (auto file = llvm::expectedToOptional(files->open(holder)))
      add(holder, (*file)->getBytes(), stored.offset, stored.size);
  }
}

void WeightPlaces::readFolder() {
  MLIRContext context;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(model, code), end; !code && it != end; it.increment(code)) {
    std::string name = llvm::sys::path::filename(it->path()).str();
    if (!StringRef(name).ends_with(".safetensors"))
      continue;
    auto opened = llvm::expectedToOptional(files->open(name));
    if (!opened)
      continue;
    ArrayRef<char> all = (*opened)->getBytes();
    if (auto tensors = llvm::expectedToOptional(huggingface::readSafetensors(all, &context)))
      for (const auto &tensor : *tensors)
        add(name, all, tensor.second.bytes.data() - all.data(), tensor.second.bytes.size());
  }
}

void WeightPlaces::readModel() {
  namespace fs = std::filesystem;
  bool isFolder = llvm::sys::fs::is_directory(model);
  std::string where = isFolder ? model : llvm::sys::path::parent_path(model).str();
  if (where.empty())
    where = ".";
  files.emplace(where);
  std::error_code code;
  fs::path absolute = fs::canonical(where, code);
  modelFolder = (folder.empty() ? absolute : fs::proximate(absolute, fs::canonical(folder, code), code)).string();
  if (isFolder)
    readFolder();
  else if (!StringRef(model).ends_with(".mlir"))
    readOnnx(llvm::sys::path::filename(model).str());
  // Among equal tensors the reference is to the first one in order, so that it does not depend on the order in which a
  // folder is listed.
  for (auto &[size, places] : bySize)
    llvm::sort(places,
               [](const Place &a, const Place &b) { return std::tie(a.file, a.offset) < std::tie(b.file, b.offset); });
}

const WeightPlaces::Place *WeightPlaces::find(ArrayRef<char> bytes) const {
  auto places = bySize.find(bytes.size());
  if (places == bySize.end())
    return nullptr;
  auto found = llvm::find_if(places->second, [&](const Place &place) { return place.bytes == bytes; });
  return found == places->second.end() ? nullptr : &*found;
}

/// Returns the text in place of a reference for a computed weight without a place.
static std::string explainAbsence(const llvm::Twine &reason) {
  return (kNoWeightBytes + ("it was computed, and " + reason)).str();
}

std::string WeightPlaces::printBytes(ArrayRef<char> bytes) {
  if (!withBytes)
    return explainAbsence("a terminal is not shown its bytes");
  if (bytes.size() > kMaxPrintedBytes - printedBytes)
    return explainAbsence("a stream gets no more than " + llvm::Twine(kMaxPrintedBytes) +
                          " bytes of such weights; files have more of them");
  printedBytes += bytes.size();
  char align[sizeof(uint32_t)];
  llvm::support::endian::write32le(align, kWeightAlign);
  return "0x" + llvm::toHex(StringRef(align, sizeof(align))) + llvm::toHex(StringRef(bytes.data(), bytes.size()));
}

std::string WeightPlaces::append(ArrayRef<char> bytes) {
  if (folder.empty())
    return printBytes(bytes);
  if (file.empty())
    return explainAbsence("there is no file beside the IR for such weights");
  uint64_t offset = written ? written->tell() : 0;
  if (bytes.size() > kMaxWrittenBytes || offset > kMaxWrittenBytes - bytes.size())
    return explainAbsence(file + " has no more than " + llvm::Twine(kMaxWrittenBytes) + " bytes of such weights");
  std::error_code code;
  if (!written)
    written = std::make_unique<llvm::raw_fd_ostream>(folder + "/" + file, code);
  if (!code) {
    written->write(bytes.data(), bytes.size());
    written->write_zeros(llvm::offsetToAlignment(bytes.size(), llvm::Align(kWeightAlign)));
    written->flush();
    code = written->error();
  }
  if (code) {
    std::string reason = explainAbsence(file + " cannot be written: " + code.message());
    written->clear_error();
    written.reset();
    file.clear();
    return reason;
  }
  bySize[bytes.size()].push_back({bytes, "", offset});
  return WeightReference{bytes.size(), offset, file, ".", hashWeight(bytes)}.print();
}

std::string WeightPlaces::locate(ArrayRef<char> bytes) {
  if (!files)
    readModel();
  if (const Place *place = find(bytes)) {
    bool isComputed = place->file.empty();
    WeightReference reference{bytes.size(), place->offset, isComputed ? file : place->file,
                              isComputed ? "." : modelFolder, hashWeight(bytes)};
    std::string text = reference.print();
    if (auto read = WeightReference::parse(text); read && read->file == reference.file)
      return text;
  }
  return append(bytes);
}
