//===- Profile.h - what threads did in a run ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_PROFILE_H
#define TENON_TOOLS_TENON_RUN_PROFILE_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Returns, for each instruction, the nanoseconds in which at least one thread worked on it. Time in which threads work
/// on several concurrent instructions is divided among these by their threads, so that the sum over all instructions is
/// no longer than the run. 0 for instructions without an event.
std::vector<int64_t> divideTime(const std::vector<tenon_profile_event> &events, uint32_t instructions);

/// Records runs of a model while it exists.
class Profile {
public:
  explicit Profile(Model &model);
  ~Profile();

  /// Forgets what has been recorded.
  void clear();

  /// Returns the nanoseconds of each instruction of the artifact, as `divideTime`.
  std::vector<int64_t> measureInstructions() const;

  /// Writes a trace of the recorded events, in the format of chrome://tracing and ui.perfetto.dev: a slice for each
  /// instruction and thread, named after the kernel, and a counter of the arena's live bytes.
  Status write(const char *path) const;

private:
  static void record(void *user, const tenon_profile_event *event);

  Model &model;
  /// One list a thread, so that threads need no lock.
  std::vector<std::vector<tenon_profile_event>> events;
};

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_PROFILE_H
