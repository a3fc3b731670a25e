//===- PassList.h - passes that can be looked at -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PASSLIST_H
#define TENON_COMPILER_DRIVER_PASSLIST_H

#include <string>
#include <vector>

namespace tenon {

class BackendRegistry;

/// Lists the passes in the pipelines and backends of an artifact, by the names for `--dump-after`.
std::vector<std::string> listPassNames(const BackendRegistry &backends);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_PASSLIST_H
