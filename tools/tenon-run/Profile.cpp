//===- Profile.cpp - a trace of one run ----------------------------------===//
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

/// One slice: times are microseconds from the start of the run.
static void writeSlice(FILE *file, const Model &model, const tenon_profile_event &event, int64_t start) {
  tenon_instruction_info info;
  tenon_artifact_instruction(model.artifact, event.instruction, &info, nullptr);
  const char *name = *info.name ? info.name : *info.kernel ? info.kernel : info.operation;
  fprintf(file,
          ",\n{\"name\":%s,\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":1,\"tid\":%u,"
          "\"args\":{\"instruction\":%u,\"kernel\":%s,\"tiles\":%lld",
          jsonString(name).c_str(), info.operation, double(event.begin_ns - start) / 1e3,
          double(event.end_ns - event.begin_ns) / 1e3, event.thread, event.instruction, jsonString(info.kernel).c_str(),
          (long long)(event.tile_end - event.tile_begin));
  if (info.flops)
    fprintf(file, ",\"flops_of_launch\":%llu", (unsigned long long)info.flops);
  fprintf(file, "}}");
}

Status Profile::write(const char *path) const {
  FILE *file = fopen(path, "w");
  if (!file)
    return Status::make(TENON_INVALID, "%s: cannot be written: %s", path, strerror(errno));
  int64_t start = INT64_MAX;
  for (const auto &list : events)
    if (!list.empty())
      start = std::min(start, list.front().begin_ns);
  fprintf(file,
          "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
          "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":%s}}",
          jsonString(model.info.model).c_str());
  for (size_t thread = 0; thread < events.size(); ++thread)
    fprintf(file, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%zu,\"args\":{\"name\":\"thread %zu\"}}",
            thread, thread);
  for (const auto &list : events)
    for (const tenon_profile_event &event : list)
      writeSlice(file, model, event, start);
  fprintf(file, "\n]}\n");
  bool fine = !ferror(file);
  fine &= fclose(file) == 0;
  return fine ? Status() : Status::make(TENON_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
}

} // namespace tenon::run
