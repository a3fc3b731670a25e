//===- FormContractions.h - contractions as operations --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_FORMCONTRACTIONS_H
#define TENON_PASSES_KERNEL_FORMCONTRACTIONS_H

#include "dialects/kernel/KernelDialect.h"

namespace tenon {

/// Replaces `op` by a `kernel.contract` if it is a contraction that can be register-blocked; otherwise returns null and
/// changes nothing. The path of `op` names the micro-kernel of the schedule.
kernel::ContractOp formContraction(mlir::linalg::GenericOp op);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_FORMCONTRACTIONS_H
