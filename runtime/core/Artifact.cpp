//===- Artifact.cpp - a loaded artifact ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Artifact.h"

#include "runtime/core/Verify.h"
#include "runtime/format/Kernel.h"

namespace tenon::rt {

Status Artifact::loadFile(const char *path, bool verify) {
  label_ = path;
  TENON_TRY(file.open(path));
  return load(file.bytes(), file.size(), verify);
}

Status Artifact::loadMemory(const uint8_t *bytes, size_t size, bool verify) {
  if (reinterpret_cast<uintptr_t>(bytes) % TENON_BUFFER_ALIGNMENT)
    return Status::make(TENON_MISUSE, "memory that is not aligned to %d bytes", TENON_BUFFER_ALIGNMENT);
  return load(bytes, size, verify);
}

Status Artifact::load(const uint8_t *bytes, size_t size, bool verify) {
  TENON_TRY(readContainer(bytes, size, &container));
  if (verify)
    for (const fmt::Section &section : container.sections)
      TENON_TRY(container.checkHash(section));

  // Code comes first: a plan for another machine may well be fine, but the machine is what the user must hear
  // about.
  TENON_TRY(pickCode());
  const fmt::Section &plan = *container.find(fmt::SectionKind::plan);
  TENON_TRY(container.checkHash(plan));
  TENON_TRY(verifyPlan(container.data(plan), plan.size, &plan_));
  if (const fmt::Section *weights = container.find(fmt::SectionKind::weights)) {
    weights_ = container.data(*weights);
    weightBytes_ = weights->size;
  }
  return loadCode();
}

/// Takes the first code section that this CPU can run: they stand in order of preference.
Status Artifact::pickCode() {
  CpuFeatures cpu = detectCpu();
  Status last;
  for (const fmt::Section &section : container.sections) {
    if (section.kind != fmt::SectionKind::code)
      continue;
    Status match = matchTarget(section.target, cpu);
    if (!match.failed()) {
      code = &section;
      return acquireTargetState(section.target);
    }
    // The last one for this architecture asks for the least: it says best what is missing.
    if (!last.failed() || std::string(section.target).rfind(cpu.arch, 0) == 0)
      last = std::move(match);
  }
  if (!last.failed())
    return Status::make(TENON_INVALID, "has no code");
  return Status::make(TENON_UNSUPPORTED, "%s; compile the model for this target, too", last.message());
}

Status Artifact::loadCode() {
  TENON_TRY(container.checkHash(*code));
  TENON_TRY(image.load(container.data(*code), code->size, code->target));
  entries_.reserve(plan_.kernels.size());
  for (const Kernel &kernel : plan_.kernels) {
    tenon_kernel_fn entry = image.find(kernel.name);
    if (!entry)
      return Status::make(TENON_INVALID, "damaged: its code for %s has no kernel '%s'", code->target,
                          kernel.name);
    entries_.push_back(entry);
  }
  return {};
}

} // namespace tenon::rt
