//===- InspectJson.cpp - an artifact as JSON -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Inspect.h"
#include "compiler/report/LaunchNames.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/Meta.h"
#include "runtime/format/plan_generated.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using fmt::OperandKind;
using Json = nlohmann::ordered_json;

static std::string getHex(uint64_t hash) { return llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16); }

/// Returns a number if the expression is one, otherwise its text.
static Json getExpr(const ArtifactView &view, uint32_t expr) {
  if (std::optional<int64_t> value = view.getConstant(expr))
    return *value;
  return view.getText(expr);
}

static Json getExprs(const ArtifactView &view, const std::vector<uint32_t> &list, rt::IndexRange range) {
  Json values = Json::array();
  for (uint32_t i = 0; i < range.count; ++i)
    values.push_back(getExpr(view, list[range.begin + i]));
  return values;
}

static Json getTensors(const ArtifactView &view, const std::vector<rt::Tensor> &tensors) {
  Json list = Json::array();
  for (const rt::Tensor &tensor : tensors)
    list.push_back({{"name", tensor.name},
                    {"dtype", tenon_dtype_name(tensor.dtype)},
                    {"role", fmt::EnumNameRole(fmt::Role(tensor.role))},
                    {"dims", getExprs(view, view.getPlan().dims, tensor.dims)}});
  return list;
}

static Json getPrograms(const ArtifactView &view) {
  Json list = Json::array();
  for (const ArtifactView::Program &program : view.getPrograms())
    list.push_back({{"sizes", program.sizes}, {"instructions", program.instructions}, {"kernels", program.kernels}});
  return list;
}

static Json getTargets(const ArtifactView &view) {
  Json list = Json::array();
  for (const ArtifactView::Target &target : view.getTargets())
    list.push_back({{"name", target.name},
                    {"code_bytes", target.codeBytes},
                    {"plan_bytes", target.planBytes},
                    {"weight_bytes", target.weightBytes},
                    {"programs", target.programs.size()}});
  return list;
}

static Json getSections(const ArtifactView &view) {
  Json list = Json::array();
  for (const fmt::Section &section : view.getContainer().sections) {
    Json entry = {{"kind", rt::sectionName(section.kind)},
                  {"offset", section.offset},
                  {"bytes", section.size},
                  {"xxh3", getHex(section.hash)}};
    if (section.target[0])
      entry["target"] = section.target;
    list.push_back(std::move(entry));
  }
  return list;
}

static Json getSymbols(const ArtifactView &view) {
  Json list = Json::array();
  for (auto [i, symbol] : llvm::enumerate(view.getPlan().symbols))
    list.push_back({{"name", symbol.name}, {"min", symbol.min}, {"max", symbol.max}, {"bound_by", view.getBinding(i)}});
  return list;
}

static Json listStates(const ArtifactView &view) {
  const rt::Plan &plan = view.getPlan();
  Json list = Json::array();
  auto getSymbol = [&](uint32_t symbol) { return symbol == rt::kNoExpr ? Json() : Json(plan.symbols[symbol].name); };
  for (const rt::State &state : plan.states) {
    Json entry = {{"name", state.name},
                  {"dtype", tenon_dtype_name(state.dtype)},
                  {"kind", fmt::EnumNameStateKind(fmt::StateKind(state.kind))},
                  {"dims", Json::array()},
                  {"bytes", state.bytes},
                  {"live", getSymbol(state.live)},
                  {"slot", getSymbol(state.slot)},
                  {"next", state.next == rt::kNoExpr ? Json() : getExpr(view, state.next)},
                  {"initial", state.initial == UINT64_MAX ? Json() : Json(state.initial)}};
    for (uint32_t d = 0; d < state.dims.count; ++d)
      entry["dims"].push_back(plan.stateDims[state.dims.begin + d]);
    list.push_back(std::move(entry));
  }
  return list;
}

static Json getKernels(const ArtifactView &view) {
  Json list = Json::array(), meta = readMeta(view), paths = readPaths(view);
  std::vector<RunWork> work = view.addUpKernels();
  for (auto [i, kernel] : llvm::enumerate(view.getPlan().kernels)) {
    // Of one launch, where all have the same.
    uint64_t launches = std::max<uint64_t>(work[i].launches, 1);
    list.push_back({{"name", kernel.name},
                    {"computes", kernel.display},
                    {"short_name", nameKernel(view, meta, i)},
                    {"launches", view.getLaunches(i)},
                    {"flops", work[i].open ? 0 : work[i].flops / launches},
                    {"bytes", work[i].open ? 0 : work[i].bytes / launches},
                    {"paths", paths.value(kernel.name, Json())}});
  }
  return list;
}

static void addField(const ArtifactView &view, OperandKind kind, uint32_t value, Json &entry) {
  switch (kind) {
  case OperandKind::kernel:
    entry["kernel"] = view.getPlan().kernels[value].name;
    break;
  case OperandKind::expr:
    entry["tiles"] = getExpr(view, value);
    break;
  case OperandKind::target:
    entry["target"] = value;
    break;
  case OperandKind::symbol:
    entry["symbol"] = view.getPlan().symbols[value].name;
    break;
  case OperandKind::byte:
    entry["byte"] = value;
    break;
  case OperandKind::block:
    entry["block"] = value;
    break;
  case OperandKind::flag:
    entry["keep"] = value != 0;
    break;
  case OperandKind::beside:
    entry["beside"] = value != 0;
    break;
  case OperandKind::check:
    entry["check"] = getPrintable(view.getPlan().checks[value].text);
    break;
  case OperandKind::host_call:
    entry["plugin"] = view.getPlan().hostCalls[value].plugin;
    entry["operator"] = getPrintable(view.getPlan().hostCalls[value].name);
    break;
  case OperandKind::none:
  case OperandKind::exprs_begin:
  case OperandKind::exprs_end:
    break;
  }
}

static Json getInstructions(const ArtifactView &view) {
  const rt::Plan &plan = view.getPlan();
  Json list = Json::array();
  for (const rt::Instruction &instruction : plan.instructions) {
    const fmt::InstructionInfo &info = fmt::kInstructions[static_cast<uint8_t>(instruction.op)];
    Json entry = {{"operation", info.name}};
    addField(view, info.a, instruction.a, entry);
    addField(view, info.b, instruction.b, entry);
    addField(view, info.c, instruction.c, entry);
    entry["nodes"] = instruction.name;
    entry["buffers"] = Json::array();
    for (uint32_t i = 0; i < instruction.buffers.count; ++i)
      entry["buffers"].push_back(plan.operands[instruction.buffers.begin + i]);
    entry["sizes"] = getExprs(view, plan.sizes, instruction.exprs);
    list.push_back(std::move(entry));
  }
  return list;
}

static Json getBuffers(const ArtifactView &view) {
  Json list = Json::array();
  std::map<uint64_t, std::string> types = readWeightTypes(view);
  for (auto [i, buffer] : llvm::enumerate(view.getPlan().buffers)) {
    Json entry = {{"name", view.getBufferName(i)},
                  {"storage", getStorageName(buffer.storage)},
                  {"offset", getExpr(view, buffer.offset)},
                  {"bytes", getExpr(view, buffer.size)}};
    if (buffer.storage == rt::Storage::input || buffer.storage == rt::Storage::output)
      entry["index"] = buffer.index;
    if (buffer.storage == rt::Storage::weight)
      if (auto type = types.find(view.getConstant(buffer.offset).value_or(-1)); type != types.end())
        entry["type"] = type->second;
    if (auto range = view.getLiveRange(i))
      entry["live_range"] = {range->first, range->last};
    list.push_back(std::move(entry));
  }
  return list;
}

/// Returns bytes, or bounds if they are unknown; null if there is no upper bound.
static Json getMemory(const ArtifactView &view) {
  Json memory = Json::object();
  for (const MemoryFigure &figure : listMemory(view.getPlan(), view.getWeightBytes(), view.getSizes())) {
    if (figure.bytes)
      memory[figure.key] = *figure.bytes;
    else
      memory[figure.key] = {{"least", figure.least}, {"most", figure.most == UINT64_MAX ? Json() : Json(figure.most)}};
  }
  if (const rt::Liveness *liveness = view.getLiveness()) {
    memory["arena_least_bytes"] = liveness->peak();
    memory["peak_instruction"] = liveness->peakInstruction();
  }
  return memory;
}

void tenon::printJson(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  const fmt::Header &header = view.getContainer().header;
  Json json = {{"artifact", options.artifact},     {"bytes", view.getFileSize()},
               {"format_version", header.version}, {"compiler", plan.compiler},
               {"model", plan.modelName},          {"source_xxh3", getHex(header.sourceHash)}};
  json["inputs"] = getTensors(view, plan.inputs);
  json["outputs"] = getTensors(view, plan.outputs);
  json["states"] = listStates(view);
  json["targets"] = getTargets(view);
  json["programs"] = getPrograms(view);
  json["sections"] = getSections(view);
  json["symbols"] = getSymbols(view);
  json["forms"] = readForms(view);
  json["kernels"] = getKernels(view);
  RunWork work = view.addUpWork();
  json["run"] = {
      {"launches", work.launches}, {"flops", work.flops}, {"bytes", work.bytes}, {"open_launches", work.open}};
  json["instructions"] = getInstructions(view);
  json["arena_bytes"] = getExpr(view, plan.arenaSize);
  json["arena_align"] = plan.arenaAlign;
  json["scratch_bytes"] = getExpr(view, plan.scratchSize);
  json["state_bytes"] = plan.stateSize;
  json["weight_bytes"] = view.getWeightBytes();
  json["memory"] = getMemory(view);
  json["buffers"] = getBuffers(view);
  json["meta"] = readMeta(view);
  os << json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) << '\n';
}
