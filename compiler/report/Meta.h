//===- Meta.h - what the compiler wrote for people -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_META_H
#define TENON_COMPILER_REPORT_META_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

class ArtifactView;

/// What a JSON section says; null where that is no JSON.
nlohmann::ordered_json parseMeta(llvm::StringRef text);
/// The same of an artifact.
nlohmann::ordered_json readMeta(const ArtifactView &view);

/// How the artifact was compiled, as titles and texts: the tolerance, how many choices of paths were measured, and what
/// was done to keep a memory limit. Printable whatever the section holds.
std::vector<std::pair<std::string, std::string>> listCompilation(const ArtifactView &view);

/// The records of real runs that choices went by: "12 decide, measured on AMD EPYC"; empty where there are none.
std::string getRecordsText(const ArtifactView &view);

/// The forms that sites of the graph took for the target that is looked at, as the file says it: [{"region": "0123...",
/// "form": name, "sites": 12, "cycles": {name: number, ...}, "nodes": [name, ...]}, ...].
nlohmann::ordered_json readForms(const ArtifactView &view);
/// The same in words: "merged_products at 12 sites, separate_products at 3"; empty where there was nothing to choose.
std::string getFormsText(const ArtifactView &view);

/// What runs were measured to take, of the artifact's own plan and of one within another tolerance, a line for each
/// target: "fastest plan within 1e-3: 41.2 ms (error 3.1e-4); within 1e-5: 63.0 ms"; none where none were.
std::vector<std::string> listPlanTimes(llvm::StringRef meta);

/// What choices for a target went by: {"vector_bytes", 64}, ...; empty where the file does not say.
std::vector<std::pair<std::string, uint64_t>> listMachineFigures(const ArtifactView &view, const std::string &target);

/// The same in words: "32 vector registers of 64 bytes, 2 multiply-adds a cycle, L2 1.00 MiB".
std::string getMachineText(const ArtifactView &view, const std::string &target);

/// The paths that kernels of the target that is looked at take, by their names: {"path": name, "cycles": {name: number,
/// ...}} with all that there were to choose from. The file need not say anything of one.
nlohmann::ordered_json readPaths(const ArtifactView &view);

/// The path that a kernel takes; empty where the file does not say.
std::string getPathName(const nlohmann::ordered_json &paths, const std::string &kernel);

/// The types of weights by their offsets in the section, as "f32[16, 1, 3, 3]"; empty where the file does not say.
std::map<uint64_t, std::string> readWeightTypes(const ArtifactView &view);

/// The module of the model that a node belongs to, where its exporter said so; else empty.
std::string readPlace(const nlohmann::ordered_json &meta, llvm::StringRef node);

/// What the compiler estimated of one way to compute a kernel.
struct PathEstimate {
  std::string path;
  uint64_t cycles;                     ///< of a launch
  std::optional<uint64_t> nanoseconds; ///< that a launch was measured to take
  bool isTooInexact; ///< faster than the path that was taken, which is the fastest one within the error budget
};

/// All paths that there were to choose from, the one that was taken first; none where the file does not say.
std::vector<PathEstimate> listPathEstimates(const nlohmann::ordered_json &paths, const std::string &kernel);

/// The same in words, with the alternatives by their estimates, or by what was measured: "amx (1,000 cycles; direct
/// 2,000; fixed16 500, not exact enough)", "winograd-4 (measured 55.5 us; direct 124 us; winograd-6 34,000 cycles)".
std::string getPathText(const nlohmann::ordered_json &paths, const std::string &kernel);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_META_H
