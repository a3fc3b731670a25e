//===- MicroKernels.h - the registered micro-kernels ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_MICROKERNELS_H
#define TENON_PASSES_KERNEL_CONTRACT_MICROKERNELS_H

#include "passes/kernel/contract/MicroKernel.h"

namespace tenon {

template <typename Kernel> std::unique_ptr<MicroKernel> createMicroKernel(const EmitterParts &parts) {
  return std::make_unique<Kernel>(parts);
}

extern const MicroKernelEntry kAmxBf16, kAmxBf16Pairs, kAmxInt8, kAmxInt8Terms, kBf16Dot, kBf16Pairs, kDequantizeFma,
    kDequantizePanel, kF16Fma, kFma, kFmaColumnwise, kI16Dot, kInt8Mul, kPmaddUbsw, kPmaddWd, kPmaddWdPanel,
    kStrassenFma, kVnni, kVnniGroups, kVnniI16Groups;

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_MICROKERNELS_H
