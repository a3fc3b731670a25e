//===- Int8Dot.h - instructions for int8 dot products --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_INT8DOT_H
#define TENON_PASSES_COST_INT8DOT_H

namespace tenon {

/// The instructions that a target has for dot products of u8 with i8. All compute the same integers. (vpmaddubsw, whose
/// sums of two saturate, is a path of its own: passes/paths/Int8Dot2.cpp.) The value of a machine's kind
/// is the number of products that one instruction sums into a lane of 32 bits.
enum class Int8Dot {
  Scalar = 1,  ///< 32-bit multiplications, which all targets have
  PmaddWd = 2, ///< two products of i16: vpmaddwd, in AVX2 and AVX-512BW
  Vnni = 4,    ///< four products of u8 with i8: vpdpbusd, in AVX-VNNI and AVX-512 VNNI
};

} // namespace tenon

#endif // TENON_PASSES_COST_INT8DOT_H
