//===- ScheduleRequest.h - the schedule of what becomes a contraction -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_KERNEL_SCHEDULEREQUEST_H
#define TENON_DIALECTS_KERNEL_SCHEDULEREQUEST_H

#include "llvm/ADT/StringRef.h"

namespace tenon::kernel {

/// On a linalg.generic: the schedule that its `kernel.contract` will have. On a kernel.winograd: that of its products.
inline constexpr llvm::StringLiteral kScheduleAttr = "kernel.schedule";

} // namespace tenon::kernel

#endif // TENON_DIALECTS_KERNEL_SCHEDULEREQUEST_H
