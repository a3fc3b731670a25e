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

/// Parses a JSON section; null if it is not JSON.
nlohmann::ordered_json parseMeta(llvm::StringRef text);
/// The same of an artifact.
nlohmann::ordered_json readMeta(const ArtifactView &view);

/// Lists how the artifact was compiled, as titles and texts: the tolerance, the number of measured choices, and what
/// was done to keep a memory limit. Printable whatever the section contains.
std::vector<std::pair<std::string, std::string>> listCompilation(const ArtifactView &view);

/// Describes the records of real runs that choices were based on: "12 decide, measured on AMD EPYC"; empty if there are
/// none.
std::string getRecordsText(const ArtifactView &view);

/// Returns the forms of the graph's sites for the selected target, in the file's format: [{"region": "0123...", "form":
/// name, "sites": 12, "cycles": {name: number, ...}, "nodes": [name, ...]}, ...].
nlohmann::ordered_json readForms(const ArtifactView &view);
/// Returns the same as text: "merged_products at 12 sites, separate_products at 3"; empty if there were no choices.
std::string getFormsText(const ArtifactView &view);

/// Lists the measured times of runs, with the artifact's own plan and with one for another tolerance, one line per
/// target: "fastest plan within 1e-3: 41.2 ms (error 3.1e-4); within 1e-5: 63.0 ms"; empty if nothing was measured.
std::vector<std::string> listPlanTimes(llvm::StringRef meta);

/// Returns the machine model that choices for a target were based on: {"vector_bytes", 64}, ...; empty if the file does
/// not contain it.
std::vector<std::pair<std::string, uint64_t>> listMachineFigures(const ArtifactView &view, const std::string &target);

/// Returns the same as text: "32 vector registers of 64 bytes, 2 multiply-adds a cycle, L2 1.00 MiB".
std::string getMachineText(const ArtifactView &view, const std::string &target);

/// Returns the paths of the selected target's kernels by name: {"path": name, "cycles": {name: number, ...}} with all
/// alternatives. A kernel may be missing.
nlohmann::ordered_json readPaths(const ArtifactView &view);

/// Returns the path of a kernel; empty if the file does not contain it.
std::string getPathName(const nlohmann::ordered_json &paths, const std::string &kernel);

/// Returns the types of weights by their offsets in the section, such as "f32[16, 1, 3, 3]"; empty if the file does not
/// contain them.
std::map<uint64_t, std::string> readWeightTypes(const ArtifactView &view);

/// Returns the module of a node, if its exporter recorded it; otherwise empty.
std::string readPlace(const nlohmann::ordered_json &meta, llvm::StringRef node);

/// The compiler's estimate of one way to compute a kernel.
struct PathEstimate {
  std::string path;
  uint64_t cycles;                     ///< of a launch
  std::optional<uint64_t> nanoseconds; ///< that a launch was measured to take
  bool isTooInexact; ///< faster than the path that was taken, which is the fastest one within the error budget
};

/// Lists all alternatives, the chosen path first; empty if the file does not contain them.
std::vector<PathEstimate> listPathEstimates(const nlohmann::ordered_json &paths, const std::string &kernel);

/// Returns the same as text, with the alternatives by their estimates or measurements: "amx (1,000 cycles; direct
/// 2,000; fixed16 500, not exact enough)", "winograd-4 (measured 55.5 us; direct 124 us; winograd-6 34,000 cycles)".
std::string getPathText(const nlohmann::ordered_json &paths, const std::string &kernel);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_META_H
