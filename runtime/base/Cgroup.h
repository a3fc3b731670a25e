//===- Cgroup.h - the control groups of this process --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_CGROUP_H
#define TENON_RUNTIME_BASE_CGROUP_H

namespace tenon::rt {

/// Calls `use` with the folder of each control group (version 1 or 2) that limits this process by `controller`, from
/// its own group up to the root. `procCgroup` is the text of /proc/self/cgroup, and `root` stands for /sys/fs/cgroup.
void forEachCgroup(const char *procCgroup, const char *root, const char *controller,
                   void (*use)(void *context, const char *folder, bool isVersionTwo), void *context);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_CGROUP_H
