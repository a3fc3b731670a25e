//===- ByteProducts.h - what a processor has for products of bytes --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_BYTEPRODUCTS_H
#define TENON_PASSES_KERNEL_BYTEPRODUCTS_H

namespace tenon {

/// How sums of products of unsigned with signed bytes are computed; all ways give the same integers. (Instructions that
/// saturate a sum of two products, as vpmaddubsw does, are no way.) Each is as many products as a lane of 32 bits has at once.
enum class ByteProducts {
  plain = 1, ///< 32-bit multiplications, which all targets have
  pairs = 2, ///< two products of 16 bits at once: vpmaddwd, in AVX2 and AVX-512BW
  quads = 4, ///< four products of bytes at once: vpdpbusd, in AVX-VNNI and AVX-512 VNNI
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_BYTEPRODUCTS_H
