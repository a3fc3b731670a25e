//===- Artifact.h - a loaded artifact ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_ARTIFACT_H
#define TENON_RUNTIME_CORE_ARTIFACT_H

#include "runtime/base/MappedFile.h"
#include "runtime/core/ExternalWeights.h"
#include "runtime/core/KernelFacts.h"
#include "runtime/core/WeightCheck.h"
#include "runtime/core/WeightRegion.h"
#include "runtime/device/Device.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/Plan.h"
#include "runtime/plugin/Plugins.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::rt {

/// One of an artifact's plans, and its kernels.
struct Program {
  Plan plan;
  std::vector<DeviceKernel> entries;                    // one for each kernel of the plan
  std::vector<KernelFacts> facts;                       // likewise
  std::vector<const tenon_plugin_operator *> operators; // one for each host call of the plan
  uint32_t firstInstruction = 0;                        // how many the programs before it have
};

/// The immutable state of an artifact, which sessions share.
class Artifact {
public:
  /// All sessions run on this device.
  explicit Artifact(const Device &runsOn) : device_(runsOn) {}

  /// Maps and loads a file.
  Status loadFile(const char *path, const tenon_load_options &options);

  /// Loads an artifact in memory, which the caller keeps.
  Status loadMemory(const uint8_t *bytes, size_t size, const tenon_load_options &options);

  /// The programs, in the order in which sizes are tried; the last is for all sizes. All have the same inputs and
  /// outputs, except for their dimensions.
  const std::vector<Program> &programs() const { return programs_; }
  /// Of the last.
  const Plan &plan() const { return programs_.back().plan; }
  const fmt::Header &header() const { return container.header; }

  /// What the code in use needs of the processor.
  const char *target() const { return targetNeeds(*code); }
  /// What the user calls that; may be empty.
  const char *targetName() const { return targetName_.c_str(); }

  /// The JSON section; empty where there is none.
  std::string_view metadata() const {
    const fmt::Section *section = container.find(fmt::SectionKind::meta);
    return section ? std::string_view(reinterpret_cast<const char *>(container.data(*section)), section->size)
                   : std::string_view();
  }

  const Device &device() const { return device_; }

  /// Where the device reads the weights.
  const uint8_t *weights() const { return weights_; }
  uint64_t weightBytes() const { return places.size; }
  /// The state of the verification of weights.
  const WeightCheck &weightCheck() const { return weightCheck_; }
  /// The files that they come from.
  const WeightRegion &weightRegion() const { return region; }
  /// Releases the pages of a part of the weights, if they are mapped from a file.
  void releaseWeights(const void *bytes, uint64_t size) const {
    if (region.isMapped() && !deviceWeights)
      file.release(bytes, size);
  }

  /// The file's path, to begin error messages with.
  const char *label() const { return label_.c_str(); }

private:
  Status load(const uint8_t *bytes, size_t size, const tenon_load_options &options);
  Status pickCode();
  Status findCode(const char *name);
  Status loadPlans();
  Status loadWeights(const fmt::Section &section, const tenon_load_options &options);
  std::string weightsFolder(const tenon_load_options &options) const;
  Status loadCode();
  Status loadPlugins(const tenon_load_options &options);
  Status readFacts(const Kernel &kernel, KernelFacts *facts) const;

  std::string label_ = "artifact", targetName_;
  MappedFile file;
  Container container;
  const Device &device_;
  const fmt::Section *code = nullptr;
  std::unique_ptr<DeviceMemory> deviceWeights; // null where the device reads those of the file
  const uint8_t *weights_ = nullptr;
  WeightPlaces places;
  ExternalWeights external; // where weights are in other files
  WeightCheck weightCheck_;
  WeightRegion region;
  std::vector<Program> programs_;
  std::unique_ptr<DeviceCode> image;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_ARTIFACT_H
