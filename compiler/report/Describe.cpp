//===- Describe.cpp - parts of a plan in words -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Describe.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"
#include "runtime/format/plan_generated.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tenon;
using fmt::OperandKind;

/// What part of an input or output a tensor is.
static const char *getRole(const rt::Tensor &tensor) { return fmt::EnumNameRole(fmt::Role(tensor.role)); }

std::string tenon::getType(const ArtifactView &view, const rt::Tensor &tensor) {
  std::vector<std::string> dims;
  for (uint32_t d = 0; d < tensor.dims.count; ++d)
    dims.push_back(view.getText(view.getPlan().dims[tensor.dims.begin + d]));
  std::string text = std::string(tenon_dtype_name(tensor.dtype)) + "[" + llvm::join(dims, ", ") + "]";
  return tensor.role == TENON_ROLE_VALUE ? text : text + ", " + getRole(tensor);
}

std::string tenon::getStateText(const ArtifactView &view, const rt::State &state) {
  const rt::Plan &plan = view.getPlan();
  std::vector<std::string> dims;
  for (uint32_t d = 0; d < state.dims.count; ++d)
    dims.push_back(std::to_string(plan.stateDims[state.dims.begin + d]));
  std::string text = std::string(tenon_dtype_name(state.dtype)) + "[" + llvm::join(dims, ", ") + "], " +
                     fmt::EnumNameStateKind(fmt::StateKind(state.kind));
  auto getSymbol = [&](uint32_t symbol) { return getPrintable(plan.symbols[symbol].name); };
  if (state.kind == rt::StateKind::ring)
    return text + ", " + getSymbol(state.live) + " rows outlive a run, which writes " + std::to_string(state.ringRows) +
           " from " + getSymbol(state.slot) + " on";
  if (state.kind == rt::StateKind::growing)
    return text + ", " + getSymbol(state.live) + " rows are live" +
           (state.next == rt::kNoExpr ? "" : ", " + view.getText(state.next) + " after a run");
  return text + (state.initial == UINT64_MAX ? "" : ", begins as a weight");
}

/// Describes the field `a`, `b` or `c`, if the instruction table assigns it a meaning.
static std::string getField(const ArtifactView &view, OperandKind kind, uint32_t value) {
  switch (kind) {
  case OperandKind::kernel:
    return getPrintable(view.getPlan().kernels[value].name);
  case OperandKind::expr:
    return "tiles " + view.getText(value);
  case OperandKind::target:
    return "to " + std::to_string(value);
  case OperandKind::symbol:
    return getPrintable(view.getPlan().symbols[value].name);
  case OperandKind::byte:
    return "byte " + std::to_string(value);
  case OperandKind::block:
    return "block " + std::to_string(value);
  case OperandKind::flag:
    return value ? "keep" : "";
  case OperandKind::beside:
    return value ? "concurrent with the one before" : "";
  case OperandKind::check:
    return getPrintable(view.getPlan().checks[value].text);
  case OperandKind::host_call:
    return getPrintable(view.getPlan().hostCalls[value].plugin) + "/" +
           getPrintable(view.getPlan().hostCalls[value].name);
  case OperandKind::none:
  case OperandKind::exprs_begin:
  case OperandKind::exprs_end:
    break;
  }
  return "";
}

std::string tenon::getBuffers(const ArtifactView &view, const rt::Instruction &instruction) {
  const rt::Plan &plan = view.getPlan();
  std::string text;
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    uint32_t buffer = plan.operands[instruction.buffers.begin + i];
    text +=
        (i ? ", " : "") + std::string(getStorageName(plan.buffers[buffer].storage)) + " " + view.getBufferName(buffer);
  }
  return text;
}

std::string tenon::getFields(const ArtifactView &view, const rt::Instruction &instruction) {
  const fmt::InstructionInfo &info = fmt::kInstructions[static_cast<uint8_t>(instruction.op)];
  std::vector<std::string> fields;
  for (auto [kind, value] :
       {std::pair(info.a, instruction.a), std::pair(info.b, instruction.b), std::pair(info.c, instruction.c)})
    if (std::string text = getField(view, kind, value); !text.empty())
      fields.push_back(text);
  return llvm::join(fields, ", ");
}

std::string tenon::getSizes(const ArtifactView &view, const rt::Instruction &instruction) {
  std::vector<std::string> sizes;
  for (uint32_t i = 0; i < instruction.exprs.count; ++i)
    sizes.push_back(view.getText(view.getPlan().sizes[instruction.exprs.begin + i]));
  return llvm::join(sizes, ", ");
}

std::string tenon::getShortNodes(llvm::StringRef nodes) {
  auto [first, others] = nodes.split(" + ");
  if (others.empty())
    return first.str();
  return (first + " +" + llvm::Twine(others.count(" + ") + 1)).str();
}

std::string tenon::getIntensity(uint64_t flops, uint64_t bytes) {
  if (!flops || !bytes)
    return "";
  return llvm::formatv("{0:F1}", double(flops) / double(bytes));
}

std::string tenon::getWorkText(const RunWork &work) {
  std::string text = "one run: " + groupDigits(work.launches) + " launches, " + groupDigits(work.flops) + " flops, " +
                     groupDigits(work.bytes) + " bytes";
  if (std::string intensity = getIntensity(work.flops, work.bytes); !intensity.empty())
    text += ", " + intensity + " flops/byte";
  return work.open ? text + ", without " + groupDigits(work.open) + " launches of open sizes" : text;
}

std::string tenon::getBoundText(uint64_t bytes) { return bytes == UINT64_MAX ? "any" : groupDigits(bytes); }
