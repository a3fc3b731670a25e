//===- MemoryFigures.cpp - the memory that an artifact needs ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/MemoryFigures.h"
#include "compiler/report/Sizes.h"
#include "compiler/report/Table.h"
#include "runtime/plan/Footprint.h"
#include "runtime/plan/ResidentWeights.h"
#include "llvm/Support/MathExtras.h"

using namespace tenon;
using rt::Interval;

namespace {
class Lister {
public:
  Lister(const rt::Plan &plan, const std::vector<Interval> &symbols, const PlanSizes *sizes);
  std::vector<MemoryFigure> run(uint64_t weightBytes);

private:
  void add(const char *key, const char *title, uint64_t least, uint64_t most, std::string note = "");
  uint64_t least(uint32_t expr) const { return std::max<int64_t>(bounds[expr].min, 0); }
  uint64_t most(uint32_t expr) const;
  void addHeap();
  void addOutputs();
  void addTotal();
  void addInputs();

  const rt::Plan &plan;
  const PlanSizes *sizes;
  std::vector<Interval> bounds;
  std::vector<MemoryFigure> figures;
};
} // namespace

Lister::Lister(const rt::Plan &plan, const std::vector<Interval> &symbols, const PlanSizes *sizes)
    : plan(plan), sizes(sizes), bounds(rt::boundExprs(plan, symbols)) {
  for (size_t i = 0; sizes && i < bounds.size(); ++i)
    if (sizes->exprKnown[i])
      bounds[i] = {sizes->exprs[i], sizes->exprs[i]};
}

uint64_t Lister::most(uint32_t expr) const {
  return bounds[expr].isBounded() ? std::max<int64_t>(bounds[expr].max, 0) : UINT64_MAX;
}

void Lister::add(const char *key, const char *title, uint64_t least, uint64_t most, std::string note) {
  std::optional<uint64_t> bytes;
  if (least == most)
    bytes = least;
  figures.push_back({key, title, bytes, least, most, std::move(note)});
}

void Lister::addHeap() {
  uint64_t heap = rt::boundHeap(plan, bounds);
  add("heap_bytes", "heap", 0, heap, plan.heapBlocks ? "grows in a run, depending on the data" : "");
}

void Lister::addOutputs() {
  uint64_t most = rt::boundOutputs(plan, bounds), least = 0;
  std::vector<uint64_t> needed(plan.outputs.size());
  if (sizes && !rt::addUpOutputs(plan, sizes->exprs.data(), needed.data()).failed())
    for (uint64_t bytes : needed)
      least = llvm::SaturatingAdd(least, bytes);
  add("output_bytes", "outputs", std::min(least, most), most,
      sizes && least != most ? "grow in a run, depending on the data" : "");
}

void Lister::addTotal() {
  uint64_t least = 0, most = 0;
  for (const MemoryFigure &figure : figures) {
    least = llvm::SaturatingAdd(least, figure.least);
    most = llvm::SaturatingAdd(most, figure.most);
  }
  add("total_bytes", "total", least, most, "with one thread");
}

void Lister::addInputs() {
  uint64_t least = 0, most = 0;
  for (const rt::Tensor &input : plan.inputs) {
    uint64_t bytes = std::max<uint64_t>(tenon_dtype_bits(input.dtype) / 8, 1);
    uint64_t leastOfOne = bytes, mostOfOne = bytes;
    for (uint32_t d = input.dims.begin; d < input.dims.begin + input.dims.count; ++d) {
      leastOfOne = llvm::SaturatingMultiply(leastOfOne, this->least(plan.dims[d]));
      mostOfOne = llvm::SaturatingMultiply(mostOfOne, this->most(plan.dims[d]));
    }
    least = llvm::SaturatingAdd(least, leastOfOne);
    most = llvm::SaturatingAdd(most, mostOfOne);
  }
  add("input_bytes", "inputs", least, most, "given by the caller, not part of the total");
}

std::vector<MemoryFigure> Lister::run(uint64_t weightBytes) {
  uint64_t resident = rt::boundWeights(plan, weightBytes), all = rt::addUpWeights(plan, weightBytes);
  std::string rest = resident < all ? ", of " + groupDigits(all) + ": the others are released" : "";
  add("weight_bytes", "weights", resident, resident, "mapped from the artifact" + rest);
  add("state_bytes", "state", plan.stateSize, plan.stateSize);
  add("arena_bytes", "activations", least(plan.arenaSize), most(plan.arenaSize));
  addHeap();
  add("scratch_bytes", "scratch", least(plan.scratchSize), most(plan.scratchSize), "for each thread");
  addOutputs();
  addTotal();
  addInputs();
  return std::move(figures);
}

std::vector<MemoryFigure> tenon::listMemory(const rt::Plan &plan, uint64_t weightBytes, const PlanSizes *sizes) {
  // Symbols that have a value are ranges of one.
  std::vector<Interval> symbols = rt::rangesOf(plan);
  for (size_t i = 0; sizes && i < symbols.size(); ++i)
    if (sizes->symbolKnown[i])
      symbols[i] = {sizes->symbols[i], sizes->symbols[i]};
  return Lister(plan, symbols, sizes).run(weightBytes);
}

std::vector<MemoryFigure> tenon::listMemory(const rt::Plan &plan, uint64_t weightBytes,
                                            const std::vector<Interval> &symbols) {
  return Lister(plan, symbols, nullptr).run(weightBytes);
}
