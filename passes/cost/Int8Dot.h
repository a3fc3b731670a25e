//===- Int8Dot.h - instructions for int8 dot products --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_INT8DOT_H
#define TENON_PASSES_COST_INT8DOT_H

namespace tenon {

/// The instructions of a target for dot products of u8 with i8, named by kind; the value is the number of products that
/// one instruction sums into a 32-bit lane. All kinds compute the same integers. (vpmaddubsw, whose sums of two
/// saturate, is a path: passes/paths/Int8Dot2.cpp.)
enum class Int8Dot {
  scalar = 1,  ///< 32-bit multiplications, which all targets have
  pmaddWd = 2, ///< two products of i16: vpmaddwd, in AVX2 and AVX-512BW
  vnni = 4,    ///< four products of u8 with i8: vpdpbusd, in AVX-VNNI and AVX-512 VNNI
};

} // namespace tenon

#endif // TENON_PASSES_COST_INT8DOT_H
