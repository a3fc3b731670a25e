//===- ProgramSession.h - a session on all programs of an artifact --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_PROGRAMSESSION_H
#define TENON_RUNTIME_CORE_PROGRAMSESSION_H

#include "runtime/core/Session.h"

#include <deque>
#include <memory>
#include <vector>

namespace tenon::rt {

/// One session for each program of an artifact. One of them has the bindings and the memory at a time: the first one
/// whose number of sequences is that of the current slots and whose dimensions and ranges match the inputs' shapes, or
/// the one that the caller selected.
class ProgramSession {
public:
  explicit ProgramSession(const Artifact &artifact) : artifact(artifact) {}

  Status start(const tenon_session_options &options);

  Status bindInput(uint32_t index, const tenon_tensor &tensor);
  Status bindOutput(uint32_t index, void *data, uint64_t capacity);
  /// Selects program `index` for every later run; TENON_ANY_PROGRAM removes the selection.
  Status use(uint32_t index);
  /// Switches to the program for the bound sizes. Must be called before queries about sizes, and before runs.
  Status pick();
  void setProfile(tenon_profile_fn callback, void *user);
  void setSeed(uint64_t seed);

  Session &current() { return sessions[active]; }
  const Session &current() const { return sessions[active]; }
  uint32_t currentIndex() const { return active; }
  uint32_t threads() const { return queue->workers(); }
  StateStore &states() { return *stateStore; }
  const Artifact &of() const { return artifact; }

private:
  struct Input {
    bool bound = false;
    void *data = nullptr;
  };
  struct Output {
    void *data = nullptr;
    uint64_t capacity = 0;
  };

  uint32_t find();
  Status checkSequences(uint32_t index) const;
  Status moveTo(uint32_t index);

  const Artifact &artifact;
  std::unique_ptr<DeviceQueue> queue;
  std::unique_ptr<StateStore> stateStore;
  std::unique_ptr<WeightPager> pager;
  std::unique_ptr<ReadAhead> readAhead;
  std::deque<Session> sessions; // one a program
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<int64_t> dims; // of all inputs, as in Plan::dims
  std::vector<int64_t> rows; // of the states, for one program after another
  uint32_t active = 0, chosen = TENON_ANY_PROGRAM;
  bool pickCurrent = false;
  uint64_t statesVersion = 0; // of the states that the pick is for
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_PROGRAMSESSION_H
