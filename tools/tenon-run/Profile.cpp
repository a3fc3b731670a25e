//===- Profile.cpp - what threads did in a run ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Profile.h"

#include "tools/tenon-run/Json.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tenon::run {

Profile::Profile(Model &model) : model(model), events(tenon_session_threads(model.session)) {
  for (auto &list : events)
    list.reserve(model.info.instruction_count);
  tenon_session_set_profile(model.session, record, this);
}

Profile::~Profile() { tenon_session_set_profile(model.session, nullptr, nullptr); }

void Profile::record(void *user, const tenon_profile_event *event) {
  static_cast<Profile *>(user)->events[event->thread].push_back(*event);
}

void Profile::clear() {
  for (auto &list : events)
    list.clear();
}

std::vector<int64_t> Profile::measureInstructions() const {
  std::vector<tenon_profile_event> all;
  for (const auto &list : events)
    all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end(), [](const tenon_profile_event &a, const tenon_profile_event &b) {
    return a.instruction != b.instruction ? a.instruction < b.instruction : a.begin_ns < b.begin_ns;
  });
  std::vector<int64_t> times(model.info.instruction_count);
  int64_t end = 0; // of what has been counted of the instruction
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i].instruction != all[i - 1].instruction)
      end = all[i].begin_ns;
    times[all[i].instruction] += std::max<int64_t>(0, all[i].end_ns - std::max(end, all[i].begin_ns));
    end = std::max(end, all[i].end_ns);
  }
  return times;
}

namespace {
/// Writes the events of a trace. Times are microseconds since the first event.
struct TraceWriter {
  FILE *file;
  const Model &model;
  int64_t start;

  double at(int64_t nanoseconds) const { return double(nanoseconds - start) / 1e3; }

  void writeSlice(const tenon_profile_event &event) const {
    tenon_instruction_info info;
    tenon_artifact_instruction(model.artifact, event.instruction, &info, nullptr);
    (void)tenon_session_work(model.session, event.instruction, &info.flops, &info.bytes, nullptr);
    const char *name = *info.kernel ? info.kernel : info.operation;
    double seconds = double(event.end_ns - event.begin_ns) / 1e9;
    fprintf(file,
            ",\n{\"name\":%s,\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":1,\"tid\":%u,"
            "\"args\":{\"instruction\":%u,\"nodes\":%s,\"tiles\":%lld",
            jsonString(name).c_str(), info.operation, at(event.begin_ns), seconds * 1e6, event.thread,
            event.instruction, jsonString(info.name).c_str(), (long long)(event.tile_end - event.tile_begin));
    if (info.flops)
      fprintf(file, ",\"flops_of_launch\":%llu", (unsigned long long)info.flops);
    if (info.bytes)
      fprintf(file, ",\"bytes_of_launch\":%llu", (unsigned long long)info.bytes);
    fprintf(file, "}}");
  }

  void writeCounter(int64_t nanoseconds, uint64_t bytes) const {
    fprintf(file,
            ",\n{\"name\":\"live bytes of the arena\",\"ph\":\"C\",\"ts\":%.3f,\"pid\":1,\"args\":{\"bytes\":%llu}}",
            at(nanoseconds), (unsigned long long)bytes);
  }
};
} // namespace

Status Profile::write(const char *path) const {
  FILE *file = fopen(path, "w");
  if (!file)
    return Status::make(TENON_INVALID, "%s: cannot be written: %s", path, strerror(errno));
  TraceWriter writer{file, model, INT64_MAX};
  for (const auto &list : events)
    if (!list.empty())
      writer.start = std::min(writer.start, list.front().begin_ns);
  fprintf(file,
          "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
          "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":%s}}",
          jsonString(model.info.model).c_str());
  for (size_t thread = 0; thread < events.size(); ++thread)
    fprintf(file, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%zu,\"args\":{\"name\":\"thread %zu\"}}",
            thread, thread);
  for (const auto &list : events)
    for (const tenon_profile_event &event : list)
      writer.writeSlice(event);
  // The calling thread participates in every instruction.
  std::vector<uint64_t> liveBytes = model.listLiveBytes();
  if (!liveBytes.empty() && !events[0].empty()) {
    for (const tenon_profile_event &event : events[0])
      writer.writeCounter(event.begin_ns, liveBytes[event.instruction]);
    writer.writeCounter(events[0].back().end_ns, 0);
  }
  fprintf(file, "\n]}\n");
  bool fine = !ferror(file);
  fine &= fclose(file) == 0;
  return fine ? Status() : Status::make(TENON_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
}

} // namespace tenon::run
