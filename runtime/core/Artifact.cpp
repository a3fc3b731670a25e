//===- Artifact.cpp - a loaded artifact ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Artifact.h"

#include "runtime/format/Kernel.h"
#include "runtime/plan/Verify.h"
#include "runtime/plan/VerifyStates.h"

#include <cstring>

namespace tenon::rt {

Status Artifact::loadFile(const char *path, const tenon_load_options &options) {
  label_ = path;
  TENON_TRY(file.open(path));
  return load(file.bytes(), file.size(), options);
}

Status Artifact::loadMemory(const uint8_t *bytes, size_t size, const tenon_load_options &options) {
  if (reinterpret_cast<uintptr_t>(bytes) % TENON_BUFFER_ALIGNMENT)
    return Status::make(TENON_MISUSE, "memory that is not aligned to %d bytes", TENON_BUFFER_ALIGNMENT);
  return load(bytes, size, options);
}

Status Artifact::load(const uint8_t *bytes, size_t size, const tenon_load_options &options) {
  TENON_TRY(readContainer(bytes, size, &container));
  if (options.verify == TENON_VERIFY_ALL)
    for (const fmt::Section &section : container.sections)
      TENON_TRY(container.checkHash(section));

  // Code is loaded first: a plan for another machine may be valid, but the user should be told about the machine.
  TENON_TRY(options.target ? findCode(options.target) : pickCode());
  targetName_ = tenon::rt::targetName(*code);
  TENON_TRY(loadPlans());
  if (const fmt::Section *weights = container.find(fmt::SectionKind::weights))
    TENON_TRY(loadWeights(*weights, options));
  TENON_TRY(loadCode());
  return loadPlugins(options);
}

/// Opens plug-in libraries only if a plan calls their operators.
Status Artifact::loadPlugins(const tenon_load_options &options) {
  bool hasCalls = false;
  for (const Program &program : programs_)
    hasCalls |= !program.plan.hostCalls.empty();
  if (hasCalls && !device_.properties().isHostAddressable)
    return Status::make(TENON_UNSUPPORTED, "calls operators of plug-ins, which device '%s' cannot give its memory to",
                        device_.properties().name);
  for (uint32_t i = 0; hasCalls && i < options.plugin_count; ++i)
    TENON_TRY(addPlugin(options.plugins[i]));
  for (Program &program : programs_)
    for (const HostCall &call : program.plan.hostCalls)
      TENON_TRY(findPluginOperator(call.plugin, call.domain, call.name, &program.operators.emplace_back()));
  return {};
}

/// Where other files with weights are looked for.
std::string Artifact::weightsFolder(const tenon_load_options &options) const {
  if (options.weights_dir)
    return options.weights_dir;
  size_t slash = label_.rfind('/');
  return slash == std::string::npos ? "." : label_.substr(0, slash + 1);
}

/// All of them at once.
static Status checkAll(const WeightPlaces &places, const uint8_t *weights, const Container::BlockHashes &hashes) {
  WeightCheck check;
  TENON_TRY(check.start(weights, places, hashes));
  for (uint64_t block = 0; block < hashes.hashes.size(); ++block)
    if (!check.check(block))
      return check.mismatch(block, "all");
  return {};
}

Status Artifact::loadWeights(const fmt::Section &section, const tenon_load_options &options) {
  int verify = options.verify;
  weights_ = container.data(section);
  TENON_TRY(readWeightPlaces(container, &places));
  Container::BlockHashes hashes;
  TENON_TRY(container.readBlockHashes(places.size, &hashes));
  const MappedFile *own = file.bytes() ? &file : nullptr;
  if (places.areExternal()) {
    if (!own && !options.weights_dir)
      return Status::make(TENON_MISUSE, "has weights in other files, whose folder weights_dir has to name");
    TENON_TRY(external.map(places, weights_, own, section.offset, weightsFolder(options).c_str(), &region));
    weights_ = external.bytes();
    if (verify == TENON_VERIFY_ALL)
      TENON_TRY(checkAll(places, weights_, hashes));
  } else if (own) {
    region.add(weights_, 0, places.size, file, section.offset);
  }
  if (!device_.properties().isHostAddressable) {
    // All weights are read here anyway, so they are verified here, too.
    if (verify == TENON_VERIFY_USED)
      TENON_TRY(places.areExternal() ? checkAll(places, weights_, hashes) : container.checkHash(section));
    deviceWeights = device_.makeMemory();
    TENON_TRY(deviceWeights->reserve(places.size, false, "weights"));
    TENON_TRY(device_.upload(deviceWeights->address(), weights_, places.size));
    weights_ = deviceWeights->address();
    region = {};
    return {};
  }
  // With TENON_VERIFY_ALL the whole section has been hashed already.
  return verify == TENON_VERIFY_USED ? weightCheck_.start(weights_, places, std::move(hashes)) : Status();
}

/// Fails if tensors differ in anything but the values of their dimensions.
static Status compareTensors(const std::vector<Tensor> &tensors, const std::vector<Tensor> &others, const char *what) {
  if (tensors.size() != others.size())
    return Status::make(TENON_INVALID, "damaged: its plans have %zu and %zu %ss", tensors.size(), others.size(), what);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &a = tensors[i], &b = others[i];
    if (strcmp(a.name, b.name) != 0 || a.dtype != b.dtype || a.dims.count != b.dims.count || a.role != b.role)
      return Status::make(TENON_INVALID, "damaged: its plans differ in %s %zu, '%s' and '%s'", what, i, a.name, b.name);
  }
  return {};
}

Status Artifact::loadPlans() {
  for (const fmt::Section *section : container.plansOf(*code)) {
    TENON_TRY(container.checkHash(*section));
    Program program;
    TENON_TRY(verifyPlan(container.data(*section), section->size, &program.plan));
    if (!programs_.empty()) {
      const Program &last = programs_.back();
      TENON_TRY(compareTensors(last.plan.inputs, program.plan.inputs, "input"));
      TENON_TRY(compareTensors(last.plan.outputs, program.plan.outputs, "output"));
      TENON_TRY(compareStates(last.plan, program.plan));
      program.firstInstruction = last.firstInstruction + uint32_t(last.plan.instructions.size());
    }
    programs_.push_back(std::move(program));
  }
  if (programs_.back().plan.sequences != 1)
    return Status::make(TENON_INVALID, "damaged: its last plan is for %u sequences", programs_.back().plan.sequences);
  return {};
}

/// Selects the first code section that the device can run; they are in order of preference.
Status Artifact::pickCode() {
  Status last;
  for (const fmt::Section &section : container.sections) {
    if (section.kind != fmt::SectionKind::code)
      continue;
    Status match = device_.enterTarget(targetNeeds(section));
    if (!match.failed()) {
      code = &section;
      return {};
    }
    // The last section for this architecture has the fewest requirements, so its error is the most useful one.
    if (!last.failed() || std::string(targetNeeds(section)).rfind(device_.properties().architecture, 0) == 0)
      last = std::move(match);
  }
  if (!last.failed())
    return Status::make(TENON_INVALID, "has no code");
  const char *target = device_.properties().target;
  return Status::make(TENON_UNSUPPORTED, *target ? "%s; compile the model with --target %s" : "%s", last.message(),
                      target);
}

/// Selects the code for a target that the caller names.
Status Artifact::findCode(const char *name) {
  std::string known;
  for (const fmt::Section &section : container.sections) {
    if (section.kind != fmt::SectionKind::code)
      continue;
    std::string own(tenon::rt::targetName(section));
    if (own == name) {
      code = &section;
      Status match = device_.enterTarget(targetNeeds(section));
      return match.failed() ? Status::make(TENON_UNSUPPORTED, "target %s %s", name, match.message()) : Status();
    }
    known.append(known.empty() ? "" : ", ").append(own.empty() ? targetNeeds(section) : own);
  }
  return Status::make(TENON_MISUSE, "has no code for target '%s', but for %s", name, known.c_str());
}

/// Artifacts from before version 3 have no facts.
Status Artifact::readFacts(const Kernel &kernel, KernelFacts *facts) const {
  if (header().version < fmt::kFactsVersion)
    return {};
  std::vector<int64_t> words = image->findWords((std::string(kernel.name) + TENON_FACTS_SUFFIX).c_str());
  if (facts->decode(words.data(), words.size()))
    return {};
  return Status::make(TENON_INVALID, "damaged: its code for %s has no facts of kernel '%s'", target(), kernel.name);
}

Status Artifact::loadCode() {
  TENON_TRY(container.checkHash(*code));
  TENON_TRY(device_.loadCode(container.data(*code), code->size, target(), &image));
  for (Program &program : programs_) {
    for (const Kernel &kernel : program.plan.kernels) {
      DeviceKernel entry = image->find(kernel.name);
      if (!entry)
        return Status::make(TENON_INVALID, "damaged: its code for %s has no kernel '%s'", target(), kernel.name);
      program.entries.push_back(entry);
      TENON_TRY(readFacts(kernel, &program.facts.emplace_back()));
    }
    TENON_TRY(verifyLaunches(program.plan, program.facts));
  }
  return {};
}

} // namespace tenon::rt
