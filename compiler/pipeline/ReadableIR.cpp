//===- ReadableIR.cpp - IR as text that people and parsers read ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/ReadableIR.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;

/// Values with at most this many elements are shown: axes, sizes, scalars.
static constexpr int64_t kMaxShownElements = 8;

static constexpr char kValueAttr[] = "value";

DenseResourceElementsAttr ReadableIR::toResource(DenseElementsAttr value, StringAttr name) {
  DenseResourceElementsAttr &resource = resources[value];
  if (resource)
    return resource;
  auto type = cast<RankedTensorType>(value.getType());
  AsmResourceBlob blob;
  if (type.getElementType().isInteger(1)) {
    // Resources have a byte for each boolean.
    SmallVector<char> bytes(value.value_begin<bool>(), value.value_end<bool>());
    blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignof(char), /*dataIsMutable=*/false);
  } else {
    // The attribute lives as long as the context.
    blob = UnmanagedAsmResourceBlob::allocateWithAlign(value.getRawData(), alignof(int64_t));
  }
  resource = name ? DenseResourceElementsAttr::get(type, name, std::move(blob))
                  : createElements(type, "constant", std::move(blob));
  return resource;
}

void ReadableIR::swapWeights(ModuleOp module) {
  module->walk([&](Operation *op) {
    if (!isa<WeightOp, plan::WeightOp>(op))
      return;
    Attribute value = op->getAttr(kValueAttr);
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (dense && !dense.isSplat() && dense.getNumElements() > kMaxShownElements) {
      swapped.emplace_back(op, value);
      value = toResource(dense, op->getAttrOfType<StringAttr>("name"));
      op->setAttr(kValueAttr, value);
    }
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
      referenced.insert({resource.getRawHandle().getKey(), resource});
  });
}

void ReadableIR::restoreWeights() {
  for (auto [op, value] : swapped)
    op->setAttr(kValueAttr, value);
  swapped.clear();
  referenced.clear();
}

static void printQuoted(llvm::raw_ostream &os, StringRef text) {
  os << '"';
  llvm::printEscapedString(text, os);
  os << '"';
}

/// Prints the section of one dialect: bytes are resources of the builtin dialect, references are ours.
void ReadableIR::printPlaces(StringRef dialect, bool isOfBytes, llvm::ListSeparator &sections, llvm::raw_ostream &os) {
  std::string entries;
  llvm::raw_string_ostream text(entries);
  llvm::ListSeparator separator(",\n");
  for (auto &[name, resource] : referenced) {
    const std::string &place = places[name];
    if (StringRef(place).starts_with("0x") != isOfBytes)
      continue;
    text << separator << "      ";
    printQuoted(text, name);
    text << ": ";
    printQuoted(text, place);
  }
  if (!entries.empty())
    os << sections << "    " << dialect << ": {\n" << entries << "\n    }";
}

void ReadableIR::printPlaces(llvm::raw_ostream &os) {
  if (!locate || referenced.empty())
    return;
  for (auto &[name, resource] : referenced) {
    auto [place, isNew] = places.try_emplace(name);
    if (const AsmResourceBlob *blob = resource.getRawHandle().getBlob(); isNew && blob)
      place->second = locate(blob->getData());
  }
  os << "{-#\n  dialect_resources: {\n";
  llvm::ListSeparator sections(",\n");
  printPlaces("builtin", /*isOfBytes=*/true, sections, os);
  printPlaces("tenon", /*isOfBytes=*/false, sections, os);
  os << "\n  }\n#-}\n";
}

/// True if there are operations on whole tensors, which correspond to nodes. In loops, each of many lines would name
/// the nodes of the kernel.
static bool hasNodes(ModuleOp module) {
  auto isOfNode = [](Operation *op) {
    bool isWhole = isa_and_nonnull<TenonDialect, plan::PlanDialect, linalg::LinalgDialect>(op->getDialect());
    return isWhole ? WalkResult::interrupt() : WalkResult::advance();
  };
  return module->walk(isOfNode).wasInterrupted();
}

void ReadableIR::print(ArrayRef<ModuleOp> modules, llvm::raw_ostream &os) {
  for (ModuleOp module : modules) {
    swapWeights(module);
    OpPrintingFlags flags;
    flags.elideLargeResourceString(0).useLocalScope();
    if (hasNodes(module)) {
      flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
      std::string text;
      llvm::raw_string_ostream stream(text);
      module->print(stream, flags);
      os << keepNodeLocations(text + "\n");
    } else {
      module->print(os, flags);
      os << '\n';
    }
  }
  printPlaces(os);
  restoreWeights();
}

/// Returns the end of a quoted string that begins at `begin`.
static size_t skipString(StringRef text, size_t begin) {
  size_t i = begin + 1;
  while (i < text.size() && text[i] != '"')
    i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

/// True if a location has no node: it is unknown, or only has positions in files, `"file":line:column`.
static bool isWithoutNode(StringRef location) {
  for (size_t i = location.find('"'); i != StringRef::npos; i = location.find('"', i)) {
    i = skipString(location, i);
    if (!location.drop_front(i).starts_with(":"))
      return false;
  }
  return true;
}

/// Returns the end of the location whose text begins at `begin`, after its bracket.
static size_t skipLocation(StringRef text, size_t begin) {
  size_t i = begin;
  for (int depth = 1; i < text.size() && depth > 0; i = text[i] == '"' ? skipString(text, i) : i + 1)
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
  return i;
}

std::string tenon::keepNodeLocations(StringRef text) {
  constexpr StringLiteral kBegin = " loc(";
  std::string kept;
  kept.reserve(text.size());
  size_t begin = 0; // of what is to be kept
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = skipString(text, i);
    } else if (text[i] != ' ' || !text.substr(i).starts_with(kBegin)) {
      ++i;
    } else {
      size_t end = skipLocation(text, i + kBegin.size());
      bool isOfOperation = end < text.size() && text[end] == '\n';
      if (!isOfOperation || isWithoutNode(text.slice(i + kBegin.size(), end - 1))) {
        kept += text.slice(begin, i);
        begin = end;
      }
      i = end;
    }
  }
  kept += text.drop_front(begin);
  return kept;
}
