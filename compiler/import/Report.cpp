//===- Report.cpp - collects what is wrong with a model -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Report.h"
#include "compiler/errors/CompileError.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <utility>

using namespace mlir;
using namespace tenon;
using namespace tenon;

/// Names come from the model: control characters are removed, and long names are truncated.
static std::string sanitize(const Twine &text) {
  constexpr size_t kLimit = 2000;
  std::string clean;
  for (char c : text.str()) {
    if (clean.size() >= kLimit)
      return clean + "...";
    clean += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return clean;
}

void Report::add(ImportFault kind, const Twine &text) { faults.push_back({kind, std::nullopt, sanitize(text), ""}); }

void Report::add(ImportFault kind, Location loc, const Twine &what, const Twine &text) {
  std::string node = what.str();
  // In "node 'conv1' (Conv)" the operator is part of the reason, the name is not.
  StringRef op = StringRef(node).substr(std::min(node.rfind('('), node.size()));
  faults.push_back({kind, loc, sanitize(what + ": " + text), sanitize(op + ": " + text)});
}

ImportFault tenon::takeFault(llvm::Error error, std::string &message) {
  CompileStatus category = takeError(std::move(error), message);
  if (category == CompileStatus::unsupported)
    return ImportFault::unsupported;
  if (category == CompileStatus::resources)
    return ImportFault::limit;
  assert(category == CompileStatus::invalid && "what an importer reads is invalid, unsupported or too large");
  return ImportFault::invalidModel;
}

void Report::add(llvm::Error error) {
  std::string message;
  ImportFault kind = takeFault(std::move(error), message);
  add(kind, message);
}

void Report::add(Location loc, const Twine &what, llvm::Error error) {
  std::string message;
  ImportFault kind = takeFault(std::move(error), message);
  add(kind, loc, what, message);
}

std::vector<Report::Fault> Report::takeFrom(size_t begin) {
  std::vector<Fault> taken(std::make_move_iterator(faults.begin() + begin), std::make_move_iterator(faults.end()));
  faults.resize(begin);
  return taken;
}

void Report::append(std::vector<Fault> more) {
  faults.insert(faults.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

ImportFault Report::getKind() const {
  if (faults.empty())
    return ImportFault::none;
  auto has = [&](ImportFault kind) { return llvm::any_of(faults, [&](const Fault &f) { return f.kind == kind; }); };
  if (has(ImportFault::invalidModel) || has(ImportFault::malformed))
    return ImportFault::invalidModel;
  return has(ImportFault::limit) ? ImportFault::limit : ImportFault::unsupported;
}

void Report::emitAll(MLIRContext *context) const {
  // Invalid nodes are reported individually; an unsupported feature is reported once, however many nodes have it.
  auto isShared = [](const Fault &fault) { return fault.kind == ImportFault::unsupported && !fault.reason.empty(); };
  llvm::StringMap<size_t> counts;
  for (const Fault &fault : faults)
    if (isShared(fault))
      ++counts[fault.reason];
  for (const Fault &fault : faults) {
    size_t count = isShared(fault) ? std::exchange(counts[fault.reason], 0) : 1;
    // Said already.
    if (count == 0)
      continue;
    InFlightDiagnostic error = emitError(fault.loc.value_or(UnknownLoc::get(context)));
    error << sanitize(file) << ": " << fault.text;
    if (count > 1)
      error << " (and " << count - 1 << " more with the same fault)";
  }
}
