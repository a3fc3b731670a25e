//===- ModelSession.h - how commands load and run an artifact -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_MODELSESSION_H
#define TENON_TOOLS_TENON_MODELSESSION_H

#include "runtime/base/Status.h"
#include "tenon/runtime.h"

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace tenon {

using rt::Status;

struct ModelOptions {
  uint32_t threads = 0;      ///< as in tenon_session_options
  uint64_t weightBudget = 0; ///< as in tenon_session_options
  std::string weightsFolder; ///< as in tenon_load_options; may be empty
};

/// Adds --threads, --weight-budget and --weights-dir.
void addModelOptions(CLI::App &command, ModelOptions &options);

/// A loaded artifact and a session on it, which are released with it.
struct ModelSession {
  Status load(const std::string &path, const ModelOptions &options);
  /// Creates the session, with states for `slots` sequences. Must be called after load().
  Status start(const ModelOptions &options, uint32_t slots = 1);
  /// Converts a status of the C API and its message.
  static Status check(tenon_status status, const tenon_error &error) {
    return status == TENON_OK ? Status() : Status::make(status, "%s", error.message);
  }

  struct Release {
    void operator()(tenon_artifact *artifact) const { tenon_artifact_release(artifact); }
    void operator()(tenon_session *session) const { tenon_session_release(session); }
  };
  // Released in the reverse order.
  std::unique_ptr<tenon_artifact, Release> artifact;
  std::unique_ptr<tenon_session, Release> session;
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_MODELSESSION_H
