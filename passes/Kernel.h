//===- Kernel.h - what the passes on kernels agree on ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A kernel is a func.func with the attribute `tenon.kernel`. Outlining makes it
// in value semantics; `tenon-to-linalg` adds a destination argument for each
// result and an index argument for each symbol; `tenon-tile-kernels` adds the
// range of tiles; `tenon-bufferize-kernels` makes tensors memrefs; and
// `tenon-kernels-to-llvm` gives it the calling convention of
// runtime/format/Kernel.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_H
#define TENON_PASSES_KERNEL_H

#include "dialects/tenon/DiscardableAttributes.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tenon {

/// The way of products of bytes in tile registers (passes/paths/AmxInt8.cpp).
inline constexpr llvm::StringRef kAmxPath = "amx";
/// The way of products of bytes in vectors, by pairs whose sums fit 16 bits (passes/paths/Int8Dot2.cpp).
inline constexpr llvm::StringRef kBytePairsPath = "byte_pairs";
/// The way of products of bf16 in vectors, by pairs (passes/paths/Bf16Dot2.cpp).
inline constexpr llvm::StringRef kBfloatPairsPath = "bf16_pairs";
/// The ways of products with a matrix of numbers of fewer bits, which follow in the name
/// (passes/paths/FixedMatrix.cpp).
inline constexpr llvm::StringRef kFixedPath = "fixed";
/// The way of products whose operands stay as they lie (passes/paths/PlainProduct.cpp).
inline constexpr llvm::StringRef kPlainPath = "plain";
/// So many queries of attention are done together at least: what vectors of all targets divide.
inline constexpr int64_t kQueriesTogether = 16; // format: of packed masks

} // namespace tenon

#endif // TENON_PASSES_KERNEL_H
