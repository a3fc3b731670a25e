//===- Cgroup.cpp - the control groups of this process ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Cgroup.h"

#include <cstdio>
#include <cstring>

namespace tenon::rt {

namespace {
struct Visit {
  void (*use)(void *context, const char *folder, bool isVersionTwo);
  void *context;

  /// Visits each group from `group` up to the root, all of which limit the process. Inside a container the group's path
  /// may not be visible below the root; then the limit of the root itself counts.
  void goUp(const char *root, const char *controller, const char *group, bool isVersionTwo) const {
    char folder[1024];
    snprintf(folder, sizeof folder, "%s%s%s%s", root, *controller ? "/" : "", controller,
             strcmp(group, "/") == 0 ? "" : group);
    size_t top = strlen(root) + (*controller != 0) + strlen(controller);
    for (;;) {
      use(context, folder, isVersionTwo);
      if (strlen(folder) <= top)
        return;
      *strrchr(folder, '/') = 0;
    }
  }
};
} // namespace

void forEachCgroup(const char *procCgroup, const char *root, const char *controller,
                   void (*use)(void *context, const char *folder, bool isVersionTwo), void *context) {
  Visit visit{use, context};
  char wanted[64];
  snprintf(wanted, sizeof wanted, ",%s,", controller);
  // Each line is "ID:CONTROLLERS:PATH"; version 2 is "0::PATH".
  for (const char *line = procCgroup; *line;) {
    const char *end = strchrnul(line, '\n');
    const char *first = strchr(line, ':');
    const char *second = first && first < end ? strchr(first + 1, ':') : nullptr;
    if (second && second < end && second[1] == '/' && end - second < 512) {
      char group[512];
      snprintf(group, sizeof group, "%.*s", int(end - second - 1), second + 1);
      char controllers[64];
      snprintf(controllers, sizeof controllers, ",%.*s,", int(second - first - 1), first + 1);
      if (strcmp(controllers, ",,") == 0)
        visit.goUp(root, "", group, true);
      else if (strstr(controllers, wanted))
        visit.goUp(root, controller, group, false);
    }
    line = *end ? end + 1 : end;
  }
}

} // namespace tenon::rt
