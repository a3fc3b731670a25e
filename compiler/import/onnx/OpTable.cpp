//===- OpTable.cpp - which operators are imported, and by what ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/OpTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

using Table = StringMap<SmallVector<const OpEntry *, 2>>;

Table makeTable(ArrayRef<ArrayRef<OpEntry>> families) {
  Table table;
  for (ArrayRef<OpEntry> family : families)
    for (const OpEntry &entry : family)
      table[entry.name].push_back(&entry);
  return table;
}

const Table &getTable(StringRef domain) {
  static const Table standard =
      makeTable({getElementwiseOps(),   getActivationOps(), getReductionOps(), getContractionOps(), getWindowOps(),
                 getNormalizationOps(), getShapeOps(),      getIndexingOps(),  getConstantOps(),    getResizeOps(),
                 getQuantizationOps(),  getControlOps(),    getRecurrentOps(), getSelectionOps(),   getSequenceOps(),
                 getRandomOps(),        getSamplingOps(),   getUnfoldOps(),    getSignalOps(),      getDetectionOps(),
                 getNgramOps(),         getStringOps(),     getImageOps(),     getLossOps()});
  static const Table learning = makeTable({getCategoryOps(), getFeatureOps(), getLinearModelOps(), getTreeOps()});
  static const Table training = makeTable({getGradientOps(), getTrainingOps()});
  static const Table microsoft = makeTable(
      {getMicrosoftOps(), getMicrosoftAttentionOps(), getMicrosoftQuantizationOps(), getMicrosoftWeightOps()});
  static const Table none;
  return *llvm::StringSwitch<const Table *>(domain)
              .Case("", &standard)
              .Case("ai.onnx.ml", &learning)
              .Case("ai.onnx.preview.training", &training)
              .Case("com.microsoft", &microsoft)
              .Default(&none);
}

} // namespace

static const OpEntry *find(const Table &table, StringRef name, int64_t opset) {
  auto it = table.find(name);
  if (it == table.end())
    return nullptr;
  for (const OpEntry *entry : it->second)
    if (opset >= entry->since && opset <= entry->until)
      return entry;
  return nullptr;
}

const OpEntry *onnx_import::findOp(StringRef domain, StringRef name, int64_t opset) {
  return find(getTable(domain), name, opset);
}

SmallVector<StringRef> onnx_import::getMicrosoftOpNames() {
  SmallVector<StringRef> names;
  for (const auto &entry : getTable("com.microsoft"))
    names.push_back(entry.getKey());
  return names;
}

const OpEntry *onnx_import::findStringOp(StringRef name, int64_t opset) {
  static const Table table = makeTable({getMovedStringOps(), getStringCastOps()});
  return find(table, name, opset);
}

StringRef onnx_import::canonicalDomain(StringRef domain) { return domain == "ai.onnx" ? StringRef() : domain; }

std::string onnx_import::describeOp(StringRef domain, StringRef name, int64_t opset) {
  return (Twine("operator ") + name + " of domain " + (domain.empty() ? "ai.onnx" : domain) + ", opset " + Twine(opset))
      .str();
}
