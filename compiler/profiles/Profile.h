//===- Profile.h - what is known of a kernel's real runs ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PROFILES_PROFILE_H
#define TENON_COMPILER_PROFILES_PROFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A machine on which kernels are measured. Machines with the same fingerprint run a kernel equally fast.
struct Hardware {
  std::string cpu;      ///< the processor's name, as the system gives it
  std::string features; ///< that kernels may use, as runtime/format/Target.h writes them
  int64_t cores = 0;    ///< that this process may use: as many as a session has threads by default
  int64_t l1Bytes = 0, l2Bytes = 0, llcBytes = 0;
  std::string os; ///< name and release; not part of the fingerprint
  std::string
      governor; ///< of the first core's frequency, empty where the system does not say; not part of the fingerprint

  /// 32 hexadecimal digits.
  std::string getFingerprint() const;
};

/// Describes the machine of this process. `features` are those of the target "host".
Hardware getThisHardware(llvm::StringRef features);

/// A piece of a program, and one way to execute it.
struct KernelVariant {
  std::string region;   ///< canonical text of what is computed, with types, sizes and attributes, without names
  std::string schedule; ///< how: the name of a path, and what else the choice decides
  std::string compiler; ///< version of the compiler that generated the code

  /// Fingerprint of the region, 32 hexadecimal digits.
  std::string getRegionFingerprint() const;
};

/// The times of some runs of a kernel, in nanoseconds, and the error of its results.
struct ProfileRecord {
  KernelVariant kernel;
  Hardware hardware;
  int64_t threads = 1;
  int64_t runs = 0;
  double min = 0, median = 0, p95 = 0;
  /// The interquartile range relative to the median, as a measure of reliability.
  double spread = 0;
  /// The largest error relative to the result's largest element; none if it was not measured.
  std::optional<double> error;
  std::string errorReference; ///< what the error was measured against: "f64", "f32"
  bool isWarm = true;         ///< whether operands could be in caches when a run began
  int64_t time = 0;           ///< when: seconds since 1970
  std::string origin;         ///< "measured" here, or "imported"
};

/// Sets the statistics of a nonempty sample of run times in nanoseconds.
void setTimes(ProfileRecord &record, std::vector<double> nanoseconds);

/// Fails with the reason why a record cannot be a measurement. Imported records are treated as hostile input.
llvm::Error checkRecord(const ProfileRecord &record);

/// A record as a line of JSON, and back.
std::string toJsonLine(const ProfileRecord &record);
llvm::Expected<ProfileRecord> parseJsonLine(llvm::StringRef line);

/// Calls `use` for each nonempty line of `text` with the record, or with the reason why it is invalid. Lines count from
/// 1.
void forEachJsonLine(llvm::StringRef text,
                     llvm::function_ref<void(size_t line, llvm::Expected<ProfileRecord> record)> use);

} // namespace tenon

#endif // TENON_COMPILER_PROFILES_PROFILE_H
