//===- Summary.cpp - values in a line of text -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Summary.h"

#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/Json.h"

#include <algorithm>
#include <cmath>

namespace tenon::run {

namespace {
struct Summary {
  double min = INFINITY, max = -INFINITY, mean = 0;
  uint64_t count = 0, nans = 0;
};
} // namespace

static Summary summarise(const tenon_tensor &tensor) {
  Summary summary;
  summary.count = tenon_tensor_bytes(TENON_U8, tensor.rank, tensor.dims) * partsOf(tensor.dtype);
  double sum = 0;
  for (uint64_t i = 0; i < summary.count; ++i) {
    double value = elementAt(tensor.dtype, tensor.data, i);
    if (std::isnan(value)) {
      ++summary.nans;
      continue;
    }
    summary.min = std::min(summary.min, value);
    summary.max = std::max(summary.max, value);
    sum += value;
  }
  summary.mean = sum / double(summary.count - summary.nans);
  return summary;
}

static constexpr uint64_t kShownElements = 6;

/// Prints the first elements of a tensor, as JSON or as text with fewer digits.
static std::string firstElements(const TensorView &view, uint64_t count, bool json) {
  std::string text = "[";
  for (uint64_t i = 0; i < std::min(count, kShownElements); ++i) {
    text += !i ? "" : json ? "," : ", ";
    if (view.tensor.dtype == TENON_STRING)
      text += jsonString(view.string(i));
    else if (json)
      text += jsonNumber(elementAt(view.tensor.dtype, view.tensor.data, i));
    else
      text += format("%.6g", elementAt(view.tensor.dtype, view.tensor.data, i));
  }
  return text + (count > kShownElements && !json ? ", ...]" : "]");
}

static std::string tensorText(const TensorView &view) {
  const tenon_tensor &tensor = view.tensor;
  std::string line = typeText(tensor.dtype, tensor.dims, tensor.rank);
  uint64_t count = view.count();
  if (tensor.dtype != TENON_STRING) {
    Summary summary = summarise(tensor);
    count = summary.count;
    if (summary.count > summary.nans)
      line += format("  min %.6g  max %.6g  mean %.6g", summary.min, summary.max, summary.mean);
    if (summary.nans)
      line += format("  nan %llu", (unsigned long long)summary.nans);
  }
  return line + "  " + firstElements(view, count, false) + "\n";
}

std::string summaryText(const std::string &name, const ValueView &value) {
  if (!value.has)
    return name + "  nothing\n";
  if (!value.isSequence)
    return name + "  " + tensorText(value.tensors[0]);
  std::string text = name + format("  sequence of %zu\n", value.tensors.size());
  for (size_t i = 0; i < value.tensors.size(); ++i)
    text += name + format("[%zu]  ", i) + tensorText(value.tensors[i]);
  return text;
}

/// The members of a tensor's object.
static std::string tensorJson(const TensorView &view) {
  const tenon_tensor &tensor = view.tensor;
  std::string text = "\"dtype\":" + jsonString(tenon_dtype_name(tensor.dtype)) +
                     ",\"shape\":" + indexText(UINT64_MAX, tensor.dims, tensor.rank);
  uint64_t count = view.count();
  if (tensor.dtype != TENON_STRING) {
    Summary summary = summarise(tensor);
    count = summary.count;
    text += ",\"min\":" + jsonNumber(summary.min) + ",\"max\":" + jsonNumber(summary.max) +
            ",\"mean\":" + jsonNumber(summary.mean) + ",\"nan\":" + std::to_string(summary.nans);
  }
  return text + ",\"first\":" + firstElements(view, count, true);
}

std::string summaryJson(const std::string &name, const ValueView &value) {
  std::string text = "{\"name\":" + jsonString(name) + ",";
  if (!value.has)
    return text + "\"value\":null}";
  if (!value.isSequence)
    return text + tensorJson(value.tensors[0]) + "}";
  text += "\"tensors\":[";
  for (size_t i = 0; i < value.tensors.size(); ++i)
    text += (i ? ",{" : "{") + tensorJson(value.tensors[i]) + "}";
  return text + "]}";
}

} // namespace tenon::run
