//===- Machine.cpp - what choices know of a processor ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/Machine.h"
#include "mlir/IR/Builders.h"
#include "passes/Kernel.h"
#include <string_view>

using namespace mlir;
using namespace tenon;

namespace {
/// A figure that targets differ in.
struct Figure {
  StringLiteral name;
  int64_t Machine::*value;
};
} // namespace

static constexpr Figure kFigures[] = {
    {"vector_bytes", &Machine::vectorBytes},   {"vector_registers", &Machine::vectorRegisters},
    {"amx_int8", &Machine::amxInt8},           {"amx_bf16", &Machine::amxBf16},
    {"bf16_pairs", &Machine::bf16Pairs},       {"multiply_adds", &Machine::multiplyAdds},
    {"panel_columns", &Machine::panelColumns}, {"l1_ways", &Machine::l1Ways},
    {"l2_bytes", &Machine::l2Bytes},           {"llc_bytes", &Machine::llcBytes},
};

static constexpr StringLiteral kInt8Dot = "int8_dot";

/// Whether the dialect verifies the figures that are read here, and no others.
static constexpr bool areVerified() {
  size_t count = std::size(kFigures);
  if (std::size(kMachineFigures) != count + 1 ||
      std::string_view(kMachineFigures[count].name) != std::string_view(kInt8Dot))
    return false;
  for (size_t i = 0; i < count; ++i)
    if (std::string_view(kFigures[i].name) != std::string_view(kMachineFigures[i].name))
      return false;
  return true;
}
static_assert(areVerified(), "dialects/tenon/DiscardableAttributes.h lists the figures of a machine in this order");

Machine tenon::getMachine(Operation *op) {
  Machine machine;
  while (op && !op->hasAttr(kMachineAttr))
    op = op->getParentOp();
  auto figures = op ? op->getAttrOfType<DictionaryAttr>(kMachineAttr) : DictionaryAttr();
  for (const Figure &figure : kFigures)
    if (auto value = figures ? figures.getAs<IntegerAttr>(figure.name) : IntegerAttr())
      machine.*figure.value = value.getInt();
  if (auto products = figures ? figures.getAs<IntegerAttr>(kInt8Dot) : IntegerAttr())
    machine.int8Dot = static_cast<Int8Dot>(products.getInt());
  return machine;
}

std::vector<std::pair<llvm::StringRef, int64_t>> tenon::listFigures(const Machine &machine) {
  std::vector<std::pair<llvm::StringRef, int64_t>> figures;
  for (const Figure &figure : kFigures)
    figures.push_back({figure.name, machine.*figure.value});
  figures.push_back({kInt8Dot, static_cast<int64_t>(machine.int8Dot)});
  return figures;
}

void tenon::setMachine(Operation *module, const Machine &machine) {
  Builder builder(module->getContext());
  NamedAttrList figures;
  for (auto [name, value] : listFigures(machine))
    figures.append(name, builder.getI64IntegerAttr(value));
  module->setAttr(kMachineAttr, figures.getDictionary(module->getContext()));
}
