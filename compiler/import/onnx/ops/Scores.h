//===- Scores.h - what classifiers and regressors of ai.onnx.ml share -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The specification leaves the case of one score for two classes open; here it is
// as ONNX Runtime has it (core/providers/cpu/ml/ml_common.h there), for which such
// models are made.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_SCORES_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_SCORES_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

enum class PostTransform { none, softmax, logistic, softmaxZero, probit };

/// The `post_transform` attribute, a string.
std::optional<PostTransform> readPostTransform(Node &n);

/// Applies the transform to scores [rows, classes], row by row.
Value transformScores(Node &n, Value scores, PostTransform transform);
/// The same for a regression, where a single score is only changed by `probit`.
Value transformTargets(Node &n, Value scores, PostTransform transform);
/// Returns two scores for each single one, [rows, 1]: the score and its opposite, which is 1 - score if `sumToOne` is
/// set.
Value pairScores(Node &n, Value score, PostTransform transform, bool sumToOne);

/// Returns the number of labels; `ints` and `strings` are the attributes that may contain them.
size_t countLabels(Node &n, llvm::StringRef ints, llvm::StringRef strings);
/// Sets output 0 to the labels with these numbers, [rows].
mlir::LogicalResult setLabels(Node &n, Value classes, llvm::StringRef ints, llvm::StringRef strings);

/// Returns a [rows, features] input as f32, or f64 if it is f64. A vector is one row.
std::optional<Value> readFeatures(Node &n);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_SCORES_H
