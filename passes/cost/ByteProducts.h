//===- ByteProducts.h - what a processor has for products of bytes --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_BYTEPRODUCTS_H
#define TENON_PASSES_COST_BYTEPRODUCTS_H

namespace tenon {

/// How sums of products of unsigned with signed bytes are computed; all ways give the same integers. Those
/// of a machine are as many products as a lane of 32 bits has at once.
enum class ByteProducts {
  plain = 1, ///< 32-bit multiplications, which all targets have
  pairs = 2, ///< two products of 16 bits at once: vpmaddwd, in AVX2 and AVX-512BW
  /// Two products of bytes at once: vpmaddubsw, in SSSE3 and all later ones. Their sum has to fit 16 bits: it is a path
  /// of its own (passes/paths/BytePairs.cpp), and no machine's way for all products.
  bytePairs = 3,
  quads = 4, ///< four products of bytes at once: vpdpbusd, in AVX-VNNI and AVX-512 VNNI
};

} // namespace tenon

#endif // TENON_PASSES_COST_BYTEPRODUCTS_H
