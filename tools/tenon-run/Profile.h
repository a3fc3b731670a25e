//===- Profile.h - a trace of one run ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_PROFILE_H
#define TENON_TOOLS_TENON_RUN_PROFILE_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Records one run of a model, and writes it in the format that chrome://tracing and ui.perfetto.dev read.
class Profile {
public:
  /// Starts to record.
  explicit Profile(Model &model);
  ~Profile();

  Status write(const char *path) const;

private:
  static void record(void *user, const tenon_profile_event *event);

  Model &model;
  /// One list a thread, so that threads need no lock.
  std::vector<std::vector<tenon_profile_event>> events;
};

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_PROFILE_H
