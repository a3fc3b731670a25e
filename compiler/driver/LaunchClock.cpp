//===- LaunchClock.cpp - what launches take in a session ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/LaunchClock.h"
#include <algorithm>

using namespace tenon;

LaunchClock::LaunchClock(tenon_session *session) : events(tenon_session_threads(session)) {
  auto record = [](void *user, const tenon_profile_event *event) {
    static_cast<LaunchClock *>(user)->events[event->thread].push_back(*event);
  };
  tenon_session_set_profile(session, record, this);
}

void LaunchClock::reset() {
  for (auto &list : events)
    list.clear();
}

std::map<uint32_t, double> LaunchClock::list() const {
  std::map<uint32_t, std::pair<int64_t, int64_t>> spans;
  for (const auto &list : events)
    for (const tenon_profile_event &event : list) {
      auto [it, isNew] = spans.try_emplace(event.instruction, event.begin_ns, event.end_ns);
      if (!isNew)
        it->second = {std::min(it->second.first, event.begin_ns), std::max(it->second.second, event.end_ns)};
    }
  std::map<uint32_t, double> times;
  for (auto [instruction, span] : spans)
    times[instruction] = double(span.second - span.first);
  return times;
}
