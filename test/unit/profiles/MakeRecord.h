//===- MakeRecord.h - a record as a measurement makes it ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_PROFILES_MAKERECORD_H
#define TENON_TEST_UNIT_PROFILES_MAKERECORD_H

#include "compiler/profiles/Profile.h"

namespace tenon {

inline ProfileRecord makeRecord(const std::string &region, const std::string &schedule, double median,
                                int64_t time = 1000) {
  ProfileRecord record;
  record.kernel = {region, schedule, "tenon 1"};
  record.hardware = {"Some CPU (1 2 3)", "x86_64:avx2", 2, 32 << 10, 1 << 20, 8 << 20, "Linux 6", "performance"};
  record.threads = 2;
  setTimes(record, {median, median * 0.9, median * 1.1, median, median});
  record.error = 1e-6;
  record.errorReference = "f64";
  record.time = time;
  record.origin = "measured";
  return record;
}

} // namespace tenon

#endif // TENON_TEST_UNIT_PROFILES_MAKERECORD_H
