//===- ArtifactView.cpp - a checked artifact, to be looked at --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"
#include "runtime/plan/Expressions.h"
#include "runtime/plan/ResidentWeights.h"
#include "runtime/plan/Verify.h"
#include "runtime/plan/Work.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace tenon;
using rt::ExprOp;
using rt::Status;
using rt::Storage;

/// Reads the plans of one target. If it is the chosen target, the chosen plan becomes `plan`.
Status ArtifactView::readPlans(const fmt::Section &code, const Choice &choice) {
  Target target;
  target.name = getPrintable(rt::targetName(code));
  target.codeBytes = code.size;
  bool isViewed = choice.target.empty() ? targets.empty() : target.name == choice.target;
  for (const fmt::Section *section : container.plansOf(code)) {
    rt::Plan next;
    TENON_TRY(rt::verifyPlan(container.data(*section), section->size, &next));
    target.planBytes += section->size;
    target.weightBytes = std::max(target.weightBytes, rt::addUpWeights(next, getWeightBytes()));
    target.programs.push_back({getPrintable(next.madeFor), next.instructions.size(), next.kernels.size()});
    if (isViewed && (!choice.program || target.programs.size() <= *choice.program + 1))
      plan = std::move(next);
  }
  if (isViewed)
    viewed = targets.size();
  targets.push_back(std::move(target));
  return {};
}

Status ArtifactView::readTargets(const Choice &choice) {
  for (const fmt::Section &section : container.sections)
    if (section.kind == fmt::SectionKind::code)
      TENON_TRY(readPlans(section, choice));
  if (targets.empty())
    return Status::make(TENON_INVALID, "has no code");
  if (!choice.target.empty() && targets[viewed].name != choice.target) {
    std::string known = llvm::join(llvm::map_range(targets, [](const Target &target) { return target.name; }), ", ");
    return Status::make(TENON_MISUSE, "has no code for target '%s', but for %s", choice.target.c_str(), known.c_str());
  }
  size_t numPrograms = targets[viewed].programs.size();
  if (choice.program && *choice.program >= numPrograms)
    return Status::make(TENON_MISUSE, "has no program %zu; its programs are 0 to %zu", *choice.program,
                        numPrograms - 1);
  return {};
}

Status ArtifactView::open(const std::string &path, bool verify, const Choice &choice) {
  TENON_TRY(file.open(path.c_str()));
  TENON_TRY(rt::readContainer(file.bytes(), file.size(), &container));
  for (const fmt::Section &section : container.sections)
    if (verify || section.kind != fmt::SectionKind::weights)
      TENON_TRY(container.checkHash(section));
  TENON_TRY(rt::readWeightPlaces(container, &places));
  TENON_TRY(readTargets(choice));
  formulas.emplace(plan);
  findConstants();
  findUses();
  bool isOpen = llvm::any_of(plan.symbols, [](const rt::Symbol &symbol) { return symbol.isEarly(); });
  return isOpen ? Status() : chooseSizes({});
}

Status ArtifactView::chooseSizes(const SizeArguments &arguments, MissingSizes missing) {
  PlanSizes chosen;
  TENON_TRY(evaluateSizes(plan, arguments, missing, chosen));
  for (uint32_t i = 0; i < plan.exprs.size(); ++i)
    if (chosen.exprKnown[i])
      constants[i] = chosen.exprs[i];
  rt::Liveness found;
  if (rt::findLiveness(plan, chosen.exprs.data(), chosen.exprKnown.data(), &found))
    liveness = std::move(found);
  sizes = std::move(chosen);
  return {};
}

uint64_t ArtifactView::getWeightBytes() const { return places.size; }

std::optional<rt::LiveRange> ArtifactView::getLiveRange(uint32_t buffer) const {
  rt::LiveRange range = uses[buffer];
  if (liveness && liveness->ranges[buffer].isAny())
    range = liveness->ranges[buffer];
  return range.isAny() ? std::optional(range) : std::nullopt;
}

llvm::StringRef ArtifactView::getCode() const {
  size_t number = 0;
  for (const fmt::Section &section : container.sections)
    if (section.kind == fmt::SectionKind::code && number++ == viewed)
      return llvm::StringRef(reinterpret_cast<const char *>(container.data(section)), section.size);
  return "";
}

llvm::StringRef ArtifactView::getMeta() const {
  const fmt::Section *meta = container.find(fmt::SectionKind::meta);
  if (!meta)
    return "";
  return llvm::StringRef(reinterpret_cast<const char *>(container.data(*meta)), meta->size);
}

/// Expressions only refer to earlier ones, so one pass over the table suffices.
void ArtifactView::findConstants() {
  constants.resize(plan.exprs.size());
  std::vector<int64_t> symbols(plan.symbols.size()), values(plan.exprs.size());
  for (uint32_t i = 0; i < plan.exprs.size(); ++i) {
    const rt::Expr &expr = plan.exprs[i];
    bool isOpen = expr.op == ExprOp::symbol;
    if (expr.op != ExprOp::constant && expr.op != ExprOp::symbol)
      isOpen = !constants[expr.a] || !constants[expr.b];
    if (!isOpen && !rt::evaluate(plan, symbols.data(), i, i + 1, values.data()).failed())
      constants[i] = values[i];
  }
}

void ArtifactView::findUses() {
  uses.resize(plan.buffers.size());
  launches.resize(plan.kernels.size());
  for (uint32_t i = 0; i < plan.instructions.size(); ++i) {
    const rt::Instruction &instruction = plan.instructions[i];
    if (instruction.op == fmt::Opcode::launch)
      ++launches[instruction.a];
    for (uint32_t k = 0; k < instruction.buffers.count; ++k)
      uses[plan.operands[instruction.buffers.begin + k]].add(i);
  }
}

std::string ArtifactView::getText(uint32_t expr) const {
  if (constants[expr])
    return std::to_string(*constants[expr]);
  // limit: a longer formula is unreadable in any form.
  constexpr size_t kMaxFormula = 120;
  if (std::optional<std::string> formula = formulas->getText(expr, kMaxFormula))
    return *formula;
  char text[512];
  rt::printExpr(plan, expr, text, sizeof text);
  return getPrintable(text);
}

std::string ArtifactView::getBytes(uint32_t expr) const {
  return constants[expr] && *constants[expr] >= 0 ? groupDigits(*constants[expr]) : getText(expr);
}

std::vector<RunWork> ArtifactView::addUpKernels(const PlanSizes *chosen) const {
  if (!chosen)
    chosen = getSizes();
  std::vector<RunWork> sums(plan.kernels.size());
  for (const rt::Instruction &instruction : plan.instructions) {
    if (instruction.op != fmt::Opcode::launch)
      continue;
    RunWork &sum = sums[instruction.a];
    ++sum.launches;
    std::optional<rt::Work> work = rt::getWork(plan, instruction, chosen ? chosen->exprs.data() : nullptr,
                                               chosen ? chosen->exprKnown.data() : nullptr);
    sum.flops = llvm::SaturatingAdd(sum.flops, work ? work->flops : 0);
    sum.bytes = llvm::SaturatingAdd(sum.bytes, work ? work->bytes : 0);
    sum.open += !work;
  }
  return sums;
}

RunWork ArtifactView::addUpWork(const PlanSizes *chosen) const {
  RunWork all;
  for (const RunWork &sum : addUpKernels(chosen)) {
    all.launches += sum.launches;
    all.flops = llvm::SaturatingAdd(all.flops, sum.flops);
    all.bytes = llvm::SaturatingAdd(all.bytes, sum.bytes);
    all.open += sum.open;
  }
  return all;
}

std::string ArtifactView::getBinding(uint32_t symbol) const {
  for (const rt::State &state : plan.states)
    if (state.live == symbol || state.slot == symbol)
      return "state '" + getPrintable(state.name) + "', " + (state.slot == symbol ? "row to write to" : "live rows");
  for (const rt::Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      const rt::Expr &dim = plan.exprs[plan.dims[input.dims.begin + d]];
      if (dim.op == ExprOp::symbol && dim.a == symbol)
        return "input '" + getPrintable(input.name) + "', dimension " + std::to_string(d);
    }
  for (uint32_t i = 0; i < plan.instructions.size(); ++i)
    if ((plan.instructions[i].op == fmt::Opcode::bind_symbol || plan.instructions[i].op == fmt::Opcode::set_symbol) &&
        plan.instructions[i].a == symbol)
      return "instruction " + std::to_string(i);
  return "nothing";
}

std::string ArtifactView::getBufferName(uint32_t index) const {
  const rt::Buffer &buffer = plan.buffers[index];
  if (*buffer.name)
    return getPrintable(buffer.name);
  if (buffer.storage == Storage::input)
    return getPrintable(plan.inputs[buffer.index].name);
  if (buffer.storage == Storage::output)
    return getPrintable(plan.outputs[buffer.index].name);
  return std::string(getStorageName(buffer.storage)) + "#" + std::to_string(index);
}

const char *tenon::getStorageName(Storage storage) {
  switch (storage) {
  case Storage::arena:
    return "arena";
  case Storage::weight:
    return "weight";
  case Storage::state:
    return "state";
  case Storage::input:
    return "input";
  case Storage::output:
    return "output";
  case Storage::heap:
    return "heap";
  }
  return "unknown";
}

std::string tenon::getPrintable(llvm::StringRef name) {
  std::string text = llvm::json::isUTF8(name) ? name.str() : llvm::json::fixUTF8(name);
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return text;
}
