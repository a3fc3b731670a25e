//===- MergedLaunch.cpp - a launch of a merged kernel ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/launches/MergedLaunch.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tenon;
using kernel::PartMode;

unsigned tenon::findArgument(func::FuncOp kernel, unsigned number, bool isOutput) {
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (kernel.getArgAttr(i, kDimsAttr) && static_cast<bool>(kernel.getArgAttr(i, kOutputAttr)) == isOutput &&
        number-- == 0)
      return i;
  llvm_unreachable("a launch passes as many buffers as its kernel has");
}

void MergedLaunch::add(plan::LaunchOp launch, func::FuncOp kernel, PartMode mode, double cycles) {
  parts.push_back({launch, kernel, mode, cycles});
}

MergedLaunch::Part &MergedLaunch::getLead() {
  return *llvm::max_element(parts, [](const Part &a, const Part &b) { return a.cycles < b.cycles; });
}

void MergedLaunch::numberBuffers() {
  bool hasTiles = llvm::any_of(parts, [](const Part &part) { return part.mode != PartMode::whole; });
  for (Part &part : parts) {
    for (Value output : part.launch.getOutputs())
      (hasTiles && part.mode == PartMode::whole ? slots : outputs).insert(output);
    for (Value size : part.launch.getSizes())
      sizes.insert(size);
  }
  for (Part &part : parts)
    for (Value input : part.launch.getInputs())
      if (!slots.contains(input) && !outputs.contains(input))
        inputs.insert(input);
}

/// Returns the numbers of a part's buffers among the inputs, the outputs and the slots of the launch.
SmallVector<int64_t> MergedLaunch::getNumbers(plan::LaunchOp launch) const {
  SmallVector<int64_t> numbers;
  SmallVector<Value> buffers(launch.getInputs());
  llvm::append_range(buffers, launch.getOutputs());
  for (Value buffer : buffers) {
    int64_t number = 0;
    for (const SetVector<Value> *of : {&inputs, &outputs, &slots}) {
      auto it = llvm::find(*of, buffer);
      number += it - of->begin();
      if (it != of->end())
        break;
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// Returns the kernel that is merged of the parts' kernels, made if there is none yet.
kernel::MergedOp MergedLaunch::getKernel() {
  auto module = cast<ModuleOp>(symbols.getOp());
  OpBuilder b(module.getContext());
  SmallVector<Attribute> attrs;
  int64_t scratch = 0;
  SmallVector<Location> locs;
  for (Part &part : parts) {
    SmallVector<int64_t> sizeNumbers;
    for (Value size : part.launch.getSizes())
      sizeNumbers.push_back(llvm::find(sizes, size) - sizes.begin());
    attrs.push_back(kernel::PartAttr::get(b.getContext(), part.launch.getKernelAttr(), part.mode,
                                          getNumbers(part.launch), sizeNumbers));
    locs.push_back(part.kernel.getLoc());
    if (auto bytes = part.kernel->getAttrOfType<IntegerAttr>(kScratchAttr))
      scratch = std::max(scratch, bytes.getInt());
  }
  SmallVector<int64_t> slotBytes;
  for (Value slot : slots)
    slotBytes.push_back(*getConstantIntValue(slot.getDefiningOp<plan::AllocOp>().getSize()));
  auto made =
      kernel::MergedOp::create(b, b.getFusedLoc(locs), (getLead().kernel.getName() + "_merged").str(),
                               inputs.size() + outputs.size(), sizes.size(), scratch, slotBytes, b.getArrayAttr(attrs));
  auto isSame = [&](kernel::MergedOp other) {
    return made.getBuffers() == other.getBuffers() && made.getSizes() == other.getSizes() &&
           made.getScratch() == other.getScratch() && made.getSlots() == other.getSlots() &&
           made.getParts() == other.getParts();
  };
  for (auto other : module.getOps<kernel::MergedOp>())
    if (isSame(other)) {
      made.erase();
      return other;
    }
  symbols.insert(made, module.getBody()->end());
  return made;
}

Value MergedLaunch::sumTiles(OpBuilder &b, Location loc) {
  Value sum;
  for (Part &part : parts)
    if (part.mode == PartMode::tiles)
      sum = sum ? arith::AddIOp::create(b, loc, sum, part.launch.getTiles()).getResult() : part.launch.getTiles();
  return sum ? sum : arith::ConstantIndexOp::create(b, loc, 1).getResult();
}

/// Adds the sums of the parts' operations and bytes, if these are known of all parts.
void MergedLaunch::addFigures(plan::LaunchOp merged) {
  MLIRContext *context = merged.getContext();
  for (StringRef figure : {kFlopsAttr, kBytesAttr}) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    bool isKnown = true;
    for (Part &part : parts) {
      auto amount = part.launch->getAttrOfType<AffineMapAttr>(figure);
      isKnown &= static_cast<bool>(amount);
      if (!amount)
        continue;
      SmallVector<AffineExpr> positions;
      for (Value size : part.launch.getSizes())
        positions.push_back(getAffineSymbolExpr(llvm::find(sizes, size) - sizes.begin(), context));
      sum = sum + amount.getValue().getResult(0).replaceSymbols(positions);
    }
    if (isKnown)
      merged->setAttr(figure, AffineMapAttr::get(AffineMap::get(0, sizes.size(), sum)));
  }
}

plan::LaunchOp MergedLaunch::create() {
  assert(parts.size() > 1 && "a launch is merged with another one");
  numberBuffers();
  kernel::MergedOp kernel = getKernel();
  plan::LaunchOp last = parts.back().launch;
  OpBuilder b(last);
  SetVector<StringRef> names;
  SmallVector<Location> locs;
  auto addNames = [&](plan::LaunchOp launch) {
    SmallVector<StringRef> own;
    launch.getName().split(own, kNameSeparator);
    names.insert_range(own);
  };
  addNames(getLead().launch);
  for (Part &part : parts) {
    addNames(part.launch);
    locs.push_back(part.launch.getLoc());
  }
  Location loc = b.getFusedLoc(locs);
  auto merged = plan::LaunchOp::create(b, loc, FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs.getArrayRef(),
                                       outputs.getArrayRef(), sizes.getArrayRef(), sumTiles(b, loc),
                                       b.getStringAttr(llvm::join(names, kNameSeparator)));
  addFigures(merged);
  auto program = merged->getParentOfType<plan::ProgramOp>();
  program.setScratch(std::max<int64_t>(program.getScratch().value_or(0), kernel.getScratchBytes()));
  for (Part &part : parts)
    part.launch.erase();
  for (Value slot : slots)
    slot.getDefiningOp()->erase();
  return merged;
}
