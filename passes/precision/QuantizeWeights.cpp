//===- QuantizeWeights.cpp - constant matrices in the bits that a user wants ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/QuantizeWeights.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/precision/WeightPrecision.h"
#include <map>
#include <set>

namespace tenon {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
struct QuantizeWeights : public tenon::impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;
  QuantizeWeights(QuantizeWeightsOptions options, std::shared_ptr<WeightPrecision> report,
                  std::shared_ptr<const StoredMatrices> calibrated)
      : QuantizeWeightsBase(std::move(options)), report(std::move(report)), calibrated(std::move(calibrated)) {}

  void runOnOperation() override {
    SmallVector<ConstantMatrix> matrices = listMatrices(getOperation());
    llvm::Expected<std::vector<std::optional<WeightFormat>>> formats =
        chooseFormats(matrices, std::vector<std::string>(rules.begin(), rules.end()));
    if (!formats) {
      emitInvalid(getOperation().getLoc(), llvm::toString(formats.takeError()));
      return signalPassFailure();
    }
    if (report) {
      std::set<std::pair<std::string, const void *>> distinct;
      for (ConstantMatrix &matrix : matrices)
        distinct.insert({matrix.getName(), matrix.weight.getValue().getAsOpaquePointer()});
      report->numMatrices = distinct.size();
    }
    for (auto [matrix, format] : llvm::zip(matrices, *formats))
      if (format && !isStoredSo(matrix, *format) && failed(store(matrix, *format)))
        return signalPassFailure();
  }

private:
  LogicalResult store(ConstantMatrix &matrix, const WeightFormat &format);
  void tell(const ConstantMatrix &matrix, const WeightFormat &format, const StoredMatrix &stored);

  /// The name and the elements of a matrix, the dimension that is summed, and the format. Several functions may read
  /// the same matrix; matrices of other names are calibrated for other inputs.
  using Source = std::tuple<std::string, const void *, int64_t, std::string>;
  std::map<Source, StoredMatrix> made;
  std::shared_ptr<WeightPrecision> report;          ///< null if nobody asks
  std::shared_ptr<const StoredMatrices> calibrated; ///< null if there was no calibration
};
} // namespace

LogicalResult QuantizeWeights::store(ConstantMatrix &matrix, const WeightFormat &format) {
  Source source{matrix.getName(), matrix.weight.getValue().getAsOpaquePointer(), matrix.uses.depthAxis.value_or(-1),
                format.describe()};
  if (auto same = made.find(source); same != made.end()) {
    replaceMatrix(matrix, format, same->second);
    return success();
  }
  auto known = calibrated ? calibrated->find(matrix.getName()) : StoredMatrices::const_iterator();
  bool isKnown = calibrated && known != calibrated->end();
  llvm::Expected<StoredMatrix> stored =
      isKnown ? llvm::Expected<StoredMatrix>(known->second) : storeMatrix(matrix, format);
  if (!stored)
    return emitInvalid(matrix.weight.getLoc(), llvm::toString(stored.takeError()));
  tell(matrix, format, *stored);
  replaceMatrix(matrix, format, *stored);
  made.insert({std::move(source), std::move(*stored)});
  ++numStored;
  return success();
}

void QuantizeWeights::tell(const ConstantMatrix &matrix, const WeightFormat &format, const StoredMatrix &stored) {
  if (!report)
    return;
  RankedTensorType type = WeightOp(matrix.weight).getType();
  // Of a calibrated matrix it is the products that are to be close, not the elements.
  double error = stored.isCalibrated ? stored.error.getRelativeOfOutputs() : stored.error.getRelative();
  std::string text = format.describe();
  if (stored.isCalibrated)
    text = StringRef(text).drop_back().str() + ", calibrated)";
  report->matrices.push_back({matrix.getName(), text, type.getShape().vec(),
                              static_cast<uint64_t>(type.getNumElements()) * type.getElementTypeBitWidth() / 8,
                              stored.bytes, error});
}

std::unique_ptr<Pass> tenon::createQuantizeWeights(QuantizeWeightsOptions options,
                                                   std::shared_ptr<WeightPrecision> report) {
  return std::make_unique<QuantizeWeights>(std::move(options), std::move(report), nullptr);
}

std::unique_ptr<Pass> tenon::createQuantizeWeights(ArrayRef<std::string> rules, std::shared_ptr<WeightPrecision> report,
                                                   std::shared_ptr<const StoredMatrices> calibrated) {
  QuantizeWeightsOptions options;
  options.rules.assign(rules.begin(), rules.end());
  return std::make_unique<QuantizeWeights>(std::move(options), std::move(report), std::move(calibrated));
}
