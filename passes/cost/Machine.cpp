//===- Machine.cpp - what choices know of a processor ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/Machine.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

namespace {
/// A figure that targets differ in.
struct Figure {
  StringLiteral name;
  int64_t Machine::*value;
  int64_t (MachineAttr::*attribute)() const;
};
} // namespace

static constexpr Figure kFigures[] = {
    {"vector_bytes", &Machine::vectorBytes, &MachineAttr::getVectorBytes},
    {"vector_registers", &Machine::vectorRegisters, &MachineAttr::getVectorRegisters},
    {"amx_int8", &Machine::amxInt8, &MachineAttr::getAmxInt8},
    {"amx_bf16", &Machine::amxBf16, &MachineAttr::getAmxBf16},
    {"bf16_pairs", &Machine::bf16Pairs, &MachineAttr::getBf16Pairs},
    {"f16_fma", &Machine::f16Fma, &MachineAttr::getF16Fma},
    {"multiply_adds", &Machine::multiplyAdds, &MachineAttr::getMultiplyAdds},
    {"l2_bound", &Machine::l2Bound, &MachineAttr::getL2Bound},
    {"panel_columns", &Machine::panelColumns, &MachineAttr::getPanelColumns},
    {"l1_ways", &Machine::l1Ways, &MachineAttr::getL1Ways},
    {"l2_bytes", &Machine::l2Bytes, &MachineAttr::getL2Bytes},
    {"llc_bytes", &Machine::llcBytes, &MachineAttr::getLlcBytes},
};

Machine tenon::getMachine(Operation *op) {
  Machine machine;
  while (op && !op->hasAttr(kMachineAttr))
    op = op->getParentOp();
  auto figures = op ? op->getAttrOfType<MachineAttr>(kMachineAttr) : MachineAttr();
  if (!figures)
    return machine;
  for (const Figure &figure : kFigures)
    if (int64_t value = (figures.*figure.attribute)())
      machine.*figure.value = value;
  if (int64_t products = figures.getInt8Dot())
    machine.int8Dot = static_cast<Int8Dot>(products);
  return machine;
}

std::vector<std::pair<llvm::StringRef, int64_t>> tenon::listFigures(const Machine &machine) {
  std::vector<std::pair<llvm::StringRef, int64_t>> figures;
  for (const Figure &figure : kFigures)
    figures.push_back({figure.name, machine.*figure.value});
  figures.push_back({"int8_dot", static_cast<int64_t>(machine.int8Dot)});
  return figures;
}

void tenon::setMachine(Operation *module, const Machine &m) {
  module->setAttr(kMachineAttr,
                  MachineAttr::get(module->getContext(), m.vectorBytes, m.vectorRegisters, m.amxInt8, m.amxBf16,
                                   m.bf16Pairs, m.f16Fma, m.multiplyAdds, m.l2Bound, m.panelColumns, m.l1Ways,
                                   m.l2Bytes, m.llcBytes, static_cast<int64_t>(m.int8Dot)));
}
