//===- LaunchNames.h - short names of fused kernels ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_LAUNCHNAMES_H
#define TENON_COMPILER_REPORT_LAUNCHNAMES_H

#include "llvm/ADT/StringRef.h"
#include <nlohmann/json.hpp>
#include <string>

namespace tenon {

class ArtifactView;
namespace rt {
struct Instruction;
}

/// Whether an exporter numbered a node for want of a name: `node_MatMul_84`, `val_7`, `Conv_3`, `117`.
bool isExporterName(llvm::StringRef node);

/// The module of a weight, which is where in the model it belongs: `encoder.layer.0.intermediate.dense` for
/// `encoder.layer.0.intermediate.dense.weight (packed)`. Empty where the name has no path, or an exporter made it up.
llvm::StringRef getModuleOfWeight(llvm::StringRef weight);

/// A name that fits into a table: the heaviest operation, and what was fused to it.
///
///   conv2 + norm2 + relu2                        conv2 +norm2 +relu2
///   /layer1/bn3/Conv + /layer1/Add               layer1/bn3/Conv +Add
///   node_MatMul_84 + node_Div_86 + node_gelu     encoder.layer.0.intermediate.dense +gelu
///
/// `nodes` are joined by " + ", the heaviest one first. Where an exporter made that one's name up, it is named after
/// `place`, or the module of `weight`, the largest one that it reads. Either may be empty.
std::string nameLaunch(llvm::StringRef nodes, llvm::StringRef weight, llvm::StringRef place);

/// The same for an instruction that is of nodes.
std::string nameInstruction(const ArtifactView &view, const nlohmann::ordered_json &meta,
                            const rt::Instruction &instruction);
/// The same for the launch that a plan has first of a kernel. `meta` is what the compiler wrote for people (Meta.h).
std::string nameKernel(const ArtifactView &view, const nlohmann::ordered_json &meta, uint32_t kernel);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_LAUNCHNAMES_H
