//===- OpTable.h - which operators are imported, and by what --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPTABLE_H
#define TENON_COMPILER_IMPORT_ONNX_OPTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace tenon::onnx_import {

class Node;

using Handler = llvm::LogicalResult (*)(Node &);

/// How an operator is imported for the versions of its domain from `since` to `until`.
struct OpEntry {
  const char *name;
  Handler handler;
  int since = 1;
  int until = 1000;
  bool isSupported = true; ///< else the handler says no more than what to do instead
};

/// Returns the entry of an operator; null if there is none.
const OpEntry *findOp(llvm::StringRef domain, llvm::StringRef name, int64_t opset);

/// The same for a node with strings among its operands whose operator also accepts numbers; null if one entry handles
/// both, or if there is none.
const OpEntry *findStringOp(llvm::StringRef name, int64_t opset);

/// Returns the operators of com.microsoft, for which ONNX has no schemas.
llvm::SmallVector<llvm::StringRef> getMicrosoftOpNames();

/// "" and "ai.onnx" name the same domain; the result is always the first one.
llvm::StringRef canonicalDomain(llvm::StringRef domain);
/// "ai.onnx::Conv (opset 13)", for messages.
std::string describeOp(llvm::StringRef domain, llvm::StringRef name, int64_t opset);

// The families of operators; each is a list in a file of its own, ops/<Family>.cpp.
llvm::ArrayRef<OpEntry> getElementwiseOps();
llvm::ArrayRef<OpEntry> getActivationOps();
llvm::ArrayRef<OpEntry> getReductionOps();
llvm::ArrayRef<OpEntry> getContractionOps();
llvm::ArrayRef<OpEntry> getWindowOps();
llvm::ArrayRef<OpEntry> getNormalizationOps();
llvm::ArrayRef<OpEntry> getShapeOps();
llvm::ArrayRef<OpEntry> getIndexingOps();
llvm::ArrayRef<OpEntry> getConstantOps();
llvm::ArrayRef<OpEntry> getResizeOps();
llvm::ArrayRef<OpEntry> getQuantizationOps();
llvm::ArrayRef<OpEntry> getControlOps();
llvm::ArrayRef<OpEntry> getRecurrentOps();
llvm::ArrayRef<OpEntry> getSelectionOps();
llvm::ArrayRef<OpEntry> getSequenceOps();
llvm::ArrayRef<OpEntry> getStringOps();
llvm::ArrayRef<OpEntry> getImageOps();
llvm::ArrayRef<OpEntry> getLossOps();
llvm::ArrayRef<OpEntry> getRandomOps();
llvm::ArrayRef<OpEntry> getSamplingOps();
llvm::ArrayRef<OpEntry> getUnfoldOps();
llvm::ArrayRef<OpEntry> getSignalOps();
llvm::ArrayRef<OpEntry> getDetectionOps();
llvm::ArrayRef<OpEntry> getNgramOps();
/// Those of domain ai.onnx.ml.
llvm::ArrayRef<OpEntry> getCategoryOps();
llvm::ArrayRef<OpEntry> getFeatureOps();
llvm::ArrayRef<OpEntry> getLinearModelOps();
llvm::ArrayRef<OpEntry> getTreeOps();
/// Those of domain ai.onnx.preview.training.
llvm::ArrayRef<OpEntry> getGradientOps();
llvm::ArrayRef<OpEntry> getTrainingOps();
llvm::ArrayRef<OpEntry> getMovedStringOps();
llvm::ArrayRef<OpEntry> getStringCastOps();
/// Those of domain com.microsoft.
llvm::ArrayRef<OpEntry> getMicrosoftOps();
llvm::ArrayRef<OpEntry> getMicrosoftAttentionOps();
llvm::ArrayRef<OpEntry> getMicrosoftQuantizationOps();
llvm::ArrayRef<OpEntry> getMicrosoftWeightOps();

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPTABLE_H
