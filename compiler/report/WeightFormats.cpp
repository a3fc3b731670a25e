//===- WeightFormats.cpp - what an artifact says of the formats of its weights ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/WeightFormats.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using Json = nlohmann::ordered_json;

namespace {
struct Matrix {
  std::string name, format, shape;
  uint64_t bytesBefore, bytes;
  double error;
};

/// Matrices of one format.
struct Sum {
  std::string format;
  uint64_t count = 0, bytesBefore = 0, bytes = 0;
  const Matrix *worst = nullptr;
};
} // namespace

static Json readFormats(llvm::StringRef meta) {
  Json json = parseMeta(meta);
  Json formats = json.is_object() ? json["weight_formats"] : Json();
  return formats.is_object() ? formats : Json();
}

static std::string getShape(const Json &dims) {
  std::string text;
  for (const Json &dim : dims)
    text += (text.empty() ? "" : ", ") + dim.dump();
  return "[" + text + "]";
}

/// Entries that are not in the compiler's format are skipped.
static std::vector<Matrix> readMatrices(const Json &formats) {
  std::vector<Matrix> matrices;
  auto isText = [](const Json &entry, const char *key) { return entry.contains(key) && entry[key].is_string(); };
  auto isCount = [](const Json &entry, const char *key) {
    return entry.contains(key) && entry[key].is_number_unsigned();
  };
  Json list = formats.is_object() && formats.contains("matrices") ? formats["matrices"] : Json();
  for (const Json &entry : list.is_array() ? list : Json::array()) {
    bool isWhole = entry.is_object() && isText(entry, "name") && isText(entry, "format") &&
                   isCount(entry, "bytes_before") && isCount(entry, "bytes") && entry.contains("error") &&
                   entry["error"].is_number() && entry.contains("shape") && entry["shape"].is_array() &&
                   llvm::all_of(entry["shape"], [](const Json &dim) { return dim.is_number_integer(); });
    if (isWhole)
      matrices.push_back({getPrintable(entry["name"].get<std::string>()),
                          getPrintable(entry["format"].get<std::string>()), getShape(entry["shape"]),
                          entry["bytes_before"].get<uint64_t>(), entry["bytes"].get<uint64_t>(),
                          entry["error"].get<double>()});
  }
  return matrices;
}

/// "train.txt (xxh3 0123456789abcdef)" for each file or folder.
static std::vector<std::string> readCalibration(const Json &formats) {
  std::vector<std::string> files;
  Json list = formats.contains("calibration") ? formats["calibration"] : Json();
  for (const Json &entry : list.is_array() ? list : Json::array())
    if (entry.is_object() && entry.contains("name") && entry["name"].is_string() && entry.contains("xxh3") &&
        entry["xxh3"].is_string())
      files.push_back(getPrintable(entry["name"].get<std::string>()) + " (xxh3 " +
                      getPrintable(entry["xxh3"].get<std::string>()) + ")");
  return files;
}

/// "7.8 %", "0.0012 %".
static std::string getPercent(double error) {
  return llvm::formatv(error >= 0.001 ? "{0:F1} %" : "{0:F4} %", 100 * error).str();
}

static std::vector<Sum> addUp(llvm::ArrayRef<Matrix> matrices) {
  std::vector<Sum> sums;
  for (const Matrix &matrix : matrices) {
    auto own = llvm::find_if(sums, [&](const Sum &sum) { return sum.format == matrix.format; });
    if (own == sums.end())
      own = sums.insert(sums.end(), Sum{matrix.format});
    ++own->count;
    own->bytesBefore += matrix.bytesBefore;
    own->bytes += matrix.bytes;
    if (!own->worst || matrix.error > own->worst->error)
      own->worst = &matrix;
  }
  return sums;
}

std::vector<std::string> tenon::listWeightFormats(llvm::StringRef meta) {
  Json formats = readFormats(meta);
  if (!formats.is_object())
    return {};
  std::vector<Matrix> matrices = readMatrices(formats);
  Json candidates = formats.contains("candidates") ? formats["candidates"] : Json();
  std::string all = candidates.is_number_unsigned() ? groupDigits(candidates.get<uint64_t>()) : "?";
  std::vector<std::string> lines;
  for (const Sum &sum : addUp(matrices)) {
    lines.push_back(groupDigits(sum.count) + " of " + all + (all == "1" ? " matrix in " : " matrices in ") +
                    sum.format + ", " + bytesText(sum.bytesBefore) + " -> " + bytesText(sum.bytes));
    if (sum.worst->error > 0)
      lines.back() += "; largest relative error " + getPercent(sum.worst->error) +
                      (sum.worst->name.empty() ? "" : " (" + sum.worst->name + ")");
  }
  for (const std::string &data : readCalibration(formats))
    lines.push_back("calibrated with " + data);
  if (matrices.empty())
    lines.push_back("none of " + all + " matrices have another format than in the model");
  if (formats.contains("error"))
    for (const std::string &line : listErrors(Json({{"error", formats["error"]}}).dump()))
      // The line for the whole error names the inputs already.
      if (!llvm::StringRef(line).starts_with("measured with "))
        lines.push_back("compared with the model's own weights: " + line);
  return lines;
}

void tenon::printWeightFormats(llvm::StringRef meta, bool all, size_t width, llvm::raw_ostream &os) {
  constexpr size_t kMaxShown = 10; // limit: rows that a look at everything shows
  std::vector<Matrix> matrices = readMatrices(readFormats(meta));
  if (matrices.empty())
    return;
  llvm::stable_sort(matrices, [](const Matrix &a, const Matrix &b) { return a.error > b.error; });
  size_t shown = all ? matrices.size() : std::min(matrices.size(), kMaxShown);
  os << "\nformats of " << groupDigits(matrices.size()) << (matrices.size() == 1 ? " matrix" : " matrices")
     << ", by relative error\n";
  Table table({">error", "format", ">bytes before", ">bytes", "shape", "~name"});
  for (const Matrix &matrix : llvm::ArrayRef(matrices).take_front(shown))
    table.add({getPercent(matrix.error), matrix.format, groupDigits(matrix.bytesBefore), groupDigits(matrix.bytes),
               matrix.shape, matrix.name});
  table.print(os, width);
  if (shown < matrices.size())
    os << "  and " << matrices.size() - shown << " with smaller errors, which --weights lists\n";
}
