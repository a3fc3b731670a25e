//===- SizeSamples.cpp - sizes of buffers at a few values of the symbols --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/SizeSamples.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

/// More symbols than these are varied together only.
static constexpr size_t kMaxVaried = 4; // limit: compile time

SizeSamples::SizeSamples(plan::ProgramOp program) {
  size_t numSymbols = program.getSymbols().size();
  DictionaryAttr ranges = program.getRangesAttr();
  auto clamp = [&](size_t symbol, int64_t value) {
    auto name = cast<StringAttr>(program.getSymbols()[symbol]);
    auto range = ranges ? ranges.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr();
    return range ? std::clamp(value, range[0], range[1]) : value;
  };
  auto add = [&](llvm::function_ref<int64_t(size_t)> getValue) {
    std::vector<int64_t> values;
    for (size_t symbol = 0; symbol < numSymbols; ++symbol)
      values.push_back(clamp(symbol, getValue(symbol)));
    if (!llvm::is_contained(samples, values))
      samples.push_back(values);
  };
  for (int64_t value : {128, 8, 1000})
    add([&](size_t) { return value; });
  for (size_t varied = 0; varied < std::min(numSymbols, kMaxVaried); ++varied) {
    add([&](size_t symbol) { return symbol == varied ? 1 : 128; });
    add([&](size_t symbol) { return symbol == varied ? 512 : 1; });
  }
}

SizeSamples SizeSamples::getLargest(plan::ProgramOp program) {
  constexpr int64_t kHuge = int64_t(1) << 40; // limit: products with extents stay in 64 bits
  SizeSamples largest;
  std::vector<int64_t> &values = largest.samples.emplace_back();
  for (StringAttr name : program.getSymbols().getAsRange<StringAttr>()) {
    auto range = program.getRanges() ? program.getRangesAttr().getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr();
    values.push_back(range ? std::min(range[1], kHuge) : kHuge);
  }
  return largest;
}

std::optional<int64_t> SizeSamples::evaluate(Value value, size_t sample) {
  if (auto it = known.find({value, sample}); it != known.end())
    return it->second;
  std::optional<int64_t> result = compute(value, sample);
  known[{value, sample}] = result;
  return result;
}

std::optional<int64_t> SizeSamples::compute(Value value, size_t sample) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return samples[sample][argument.getArgNumber()];
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value();
  if (op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<int64_t> x = evaluate(op->getOperand(0), sample), y = evaluate(op->getOperand(1), sample);
  if (!x || !y)
    return std::nullopt;
  int64_t a = *x, b = *y, result;
  auto divide = [&](auto how) -> std::optional<int64_t> {
    return b > 0 ? std::optional<int64_t>(how(a, b)) : std::nullopt;
  };
  auto unless = [&](bool overflow) { return overflow ? std::nullopt : std::optional<int64_t>(result); };
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return unless(llvm::AddOverflow(a, b, result)); })
      .Case<arith::SubIOp>([&](auto) { return unless(llvm::SubOverflow(a, b, result)); })
      .Case<arith::MulIOp>([&](auto) { return unless(llvm::MulOverflow(a, b, result)); })
      .Case<arith::FloorDivSIOp>(
          [&](auto) { return divide([](auto n, auto d) { return llvm::divideFloorSigned(n, d); }); })
      .Case<arith::CeilDivSIOp>(
          [&](auto) { return divide([](auto n, auto d) { return llvm::divideCeilSigned(n, d); }); })
      .Case<arith::RemSIOp>([&](auto) { return divide([](auto n, auto d) { return llvm::mod(n, d); }); })
      .Case<arith::MinSIOp>([&](auto) { return std::optional(std::min(a, b)); })
      .Case<arith::MaxSIOp>([&](auto) { return std::optional(std::max(a, b)); })
      .Default([](Operation *) { return std::nullopt; });
}
