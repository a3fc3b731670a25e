//===- LaunchNames.cpp - short names of fused kernels ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/LaunchNames.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Meta.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace tenon;
using llvm::SmallVector;
using llvm::StringRef;

/// Returns the kind of an exporter's numbered node: "MatMul" for `node_MatMul_84`.
static StringRef getKindOfNode(StringRef node) {
  if (!node.consume_front("node_"))
    node.consume_front("val_");
  StringRef kind = node.rtrim("0123456789");
  return kind != node && kind.ends_with("_") ? kind.drop_back() : node;
}

bool tenon::isExporterName(StringRef node) {
  if (node.starts_with("node_") || node.starts_with("val_") || llvm::all_of(node, llvm::isDigit))
    return true;
  StringRef kind = getKindOfNode(node);
  return kind != node && !kind.empty() && llvm::isUpper(kind.front()) && llvm::all_of(kind, llvm::isAlpha);
}

StringRef tenon::getModuleOfWeight(StringRef weight) {
  weight = weight.split(" (").first;
  size_t end = weight.find_last_of("./");
  // torch.onnx names folded constants `onnx::MatMul_117`.
  return end == StringRef::npos || weight.contains("::") ? StringRef() : weight.take_front(end).ltrim("/");
}

/// Splits a path at the separator that it uses.
static SmallVector<StringRef> splitPath(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, name.contains('/') ? '/' : '.', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return parts;
}

/// Returns the component that distinguishes `node` from `lead`: the first one that they do not share. Empty if `lead`
/// is a part of `node`, a module that names one of its operations.
static StringRef getOwnPart(StringRef node, StringRef lead) {
  SmallVector<StringRef> parts = splitPath(node), others = splitPath(lead);
  size_t shared = 0;
  while (shared < parts.size() && shared < others.size() && parts[shared] == others[shared])
    ++shared;
  return shared == parts.size() ? StringRef() : parts[shared];
}

/// Lists the operations that are fused with `lead`, in order. Of unnamed nodes only the last one is listed, since they
/// are its intermediate steps.
static SmallVector<std::string> listFused(llvm::ArrayRef<StringRef> others, StringRef lead) {
  SmallVector<std::string> fused;
  for (auto [i, node] : llvm::enumerate(others)) {
    bool hasName = !isExporterName(node);
    if (!hasName && i + 1 < others.size())
      continue;
    std::string part = hasName ? getOwnPart(node, lead).str() : getKindOfNode(node).lower();
    if (!part.empty() && !llvm::is_contained(fused, part))
      fused.push_back(part);
  }
  return fused;
}

std::string tenon::nameLaunch(StringRef nodes, StringRef weight, StringRef place) {
  constexpr size_t kMaxFused = 3;
  SmallVector<StringRef> names;
  nodes.split(names, " + ");
  StringRef lead = names.front(), module = place.empty() ? getModuleOfWeight(weight) : place;
  SmallVector<std::string> fused = listFused(llvm::ArrayRef(names).drop_front(), lead);
  std::string text = isExporterName(lead) && !module.empty() ? module.str() : lead.ltrim("/").str();
  if (fused.size() > kMaxFused) {
    text += " ...";
    fused.erase(fused.begin(), fused.end() - kMaxFused);
  }
  for (const std::string &part : fused)
    text += " +" + part;
  return text;
}

/// Returns the name of the largest weight that an instruction reads.
static StringRef findLargestWeight(const ArtifactView &view, const rt::Instruction &instruction) {
  const rt::Plan &plan = view.getPlan();
  StringRef name;
  int64_t largest = -1;
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    const rt::Buffer &buffer = plan.buffers[plan.operands[instruction.buffers.begin + i]];
    int64_t bytes = buffer.storage == rt::Storage::weight ? view.getConstant(buffer.size).value_or(0) : -1;
    if (bytes > largest) {
      largest = bytes;
      name = buffer.name;
    }
  }
  return name;
}

std::string tenon::nameInstruction(const ArtifactView &view, const nlohmann::ordered_json &meta,
                                   const rt::Instruction &instruction) {
  StringRef nodes = instruction.name;
  return getPrintable(
      nameLaunch(nodes, findLargestWeight(view, instruction), readPlace(meta, nodes.split(" + ").first)));
}

std::string tenon::nameKernel(const ArtifactView &view, const nlohmann::ordered_json &meta, uint32_t kernel) {
  const rt::Plan &plan = view.getPlan();
  StringRef nodes = plan.kernels[kernel].display, weight;
  auto isLaunch = [&](const rt::Instruction &instruction) {
    return instruction.op == fmt::Opcode::launch && instruction.a == kernel;
  };
  if (auto launch = llvm::find_if(plan.instructions, isLaunch); launch != plan.instructions.end())
    weight = findLargestWeight(view, *launch);
  return getPrintable(nameLaunch(nodes, weight, readPlace(meta, nodes.split(" + ").first)));
}
