//===- ArtifactView.h - a checked artifact, to be looked at ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_ARTIFACTVIEW_H
#define TENON_COMPILER_REPORT_ARTIFACTVIEW_H

#include "compiler/report/SizeFormula.h"
#include "compiler/report/Sizes.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/Liveness.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/WeightPlaces.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// The arithmetic of a list of instructions, and the bytes that they read and write.
struct RunWork {
  uint64_t launches = 0, flops = 0, bytes = 0;
  uint64_t open = 0; ///< launches whose figures depend on sizes, and are left out
};

/// An artifact for any processor, verified as in the runtime. Nothing in it is executed.
class ArtifactView {
public:
  /// A program in the file; programs are tried in order.
  struct Program {
    std::string sizes; ///< empty for all
    size_t instructions, kernels;
  };

  /// A target in the file, in order of preference.
  struct Target {
    std::string name; ///< may be empty
    uint64_t codeBytes = 0, planBytes = 0;
    uint64_t weightBytes = 0; ///< in which its plans have buffers
    std::vector<Program> programs;
  };
  /// Which of the plans to look at.
  struct Choice {
    std::string target;            ///< the first where empty
    std::optional<size_t> program; ///< the last, for all sizes, where not set
  };

  /// May be called once. `verify` also reads the weights and compares their hash.
  rt::Status open(const std::string &path, bool verify, const Choice &choice);

  const std::vector<Target> &getTargets() const { return targets; }
  /// The one that is looked at.
  const Target &getTarget() const { return targets[viewed]; }
  const std::vector<Program> &getPrograms() const { return targets[viewed].programs; }

  /// Evaluates the plan for these sizes: expressions that depend on them become numbers. Without sizes, this is so from
  /// the start if inputs have no dynamic dimensions.
  rt::Status chooseSizes(const SizeArguments &arguments, MissingSizes missing = MissingSizes::refused);

  /// The sizes that are looked at, or null.
  const PlanSizes *getSizes() const { return sizes ? &*sizes : nullptr; }
  /// Returns when the arena's bytes are live, for these sizes; null if there are none, or if the plan is too large.
  const rt::Liveness *getLiveness() const { return liveness ? &*liveness : nullptr; }
  uint64_t getWeightBytes() const;

  const rt::Container &getContainer() const { return container; }
  /// Where its weights lie.
  const rt::WeightPlaces &getWeightPlaces() const { return places; }
  const rt::Plan &getPlan() const { return plan; }
  size_t getFileSize() const { return file.size(); }
  /// Returns the code of the selected target, an ELF object.
  llvm::StringRef getCode() const;
  /// The JSON section; empty where there is none.
  llvm::StringRef getMeta() const;

  /// Returns the value of an expression without symbols, or whose symbols have sizes.
  std::optional<int64_t> getConstant(uint32_t expr) const { return constants[expr]; }
  /// Returns an expression as text: a number if it is one, otherwise in its normal form (SizeFormula.h) unless that is
  /// long.
  std::string getText(uint32_t expr) const;
  /// The same with digits in groups.
  std::string getBytes(uint32_t expr) const;

  /// Returns the first and the last instruction that name a buffer; for one in the arena with known sizes, those
  /// between which it is live.
  std::optional<rt::LiveRange> getLiveRange(uint32_t buffer) const;
  /// How often a kernel is launched in the list.
  uint32_t getLaunches(uint32_t kernel) const { return launches[kernel]; }

  /// Returns the total work of all launches, each counted once, for `sizes` or for the selected sizes.
  RunWork addUpWork(const PlanSizes *sizes = nullptr) const;
  /// Returns the total work of the launches of each kernel, in the same way.
  std::vector<RunWork> addUpKernels(const PlanSizes *sizes = nullptr) const;

  /// Returns what binds a symbol: "input 'x', dimension 0" or "instruction 7".
  std::string getBinding(uint32_t symbol) const;
  /// Returns "x", or "arena#7" if the buffer has no name.
  std::string getBufferName(uint32_t buffer) const;

private:
  rt::Status readTargets(const Choice &choice);
  rt::Status readPlans(const fmt::Section &code, const Choice &choice);
  void findConstants();
  void findUses();

  rt::MappedFile file;
  rt::Container container;
  rt::WeightPlaces places;
  rt::Plan plan;
  std::vector<Target> targets;
  size_t viewed = 0; ///< of them
  std::vector<std::optional<int64_t>> constants;
  std::vector<rt::LiveRange> uses;
  std::optional<SizeFormulas> formulas; // of `plan`
  std::optional<PlanSizes> sizes;
  std::optional<rt::Liveness> liveness;
  std::vector<uint32_t> launches;
};

/// "arena", "weight"...
const char *getStorageName(rt::Storage storage);

/// Returns a name from a file in printable form: valid UTF-8 on one line.
std::string getPrintable(llvm::StringRef name);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_ARTIFACTVIEW_H
