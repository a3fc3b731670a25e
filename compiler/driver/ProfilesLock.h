//===- ProfilesLock.h - the records that a compilation went by -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of lines that `tenon profiles export` writes, too: exactly the records that decided. With it, the same choices
// are made on any machine.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PROFILESLOCK_H
#define TENON_COMPILER_DRIVER_PROFILESLOCK_H

#include "compiler/profiles/Profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace tenon {

/// Reads the records of a lock file. Fails if any line is invalid, because a partial lock would be misleading.
llvm::Expected<std::vector<ProfileRecord>> readProfilesLock(const std::string &file);

/// Writes records in a canonical order, without duplicates. The file is written atomically.
llvm::Error writeProfilesLock(const std::string &file, llvm::ArrayRef<ProfileRecord> records);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_PROFILESLOCK_H
