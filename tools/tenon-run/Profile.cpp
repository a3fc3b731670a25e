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

std::vector<int64_t> divideTime(const std::vector<tenon_profile_event> &events, uint32_t instructions) {
  struct Edge {
    int64_t time;
    uint32_t instruction;
    bool isBegin;
  };
  std::vector<Edge> edges;
  for (const tenon_profile_event &event : events) {
    edges.push_back({event.begin_ns, event.instruction, true});
    edges.push_back({event.end_ns, event.instruction, false});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) { return a.time < b.time; });
  std::vector<double> times(instructions);
  // The threads at work on each instruction at hand, which are few, and on all of them.
  std::vector<std::pair<uint32_t, int>> current;
  int threads = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge &edge = edges[i];
    if (threads > 0)
      for (auto [instruction, count] : current)
        times[instruction] += double(edge.time - edges[i - 1].time) * count / threads;
    auto it = std::find_if(current.begin(), current.end(),
                           [&](const auto &entry) { return entry.first == edge.instruction; });
    if (it == current.end())
      it = current.insert(it, {edge.instruction, 0});
    int change = edge.isBegin ? 1 : -1;
    it->second += change;
    threads += change;
    if (it->second == 0)
      current.erase(it);
  }
  return {times.begin(), times.end()};
}

std::vector<int64_t> Profile::measureInstructions() const {
  std::vector<tenon_profile_event> all;
  for (const auto &list : events)
    all.insert(all.end(), list.begin(), list.end());
  return divideTime(all, model.info.instruction_count);
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
