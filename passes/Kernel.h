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

/// The path that computes int8 products in AMX tiles (passes/paths/AmxInt8.cpp).
inline constexpr llvm::StringRef kAmxInt8Path = "amx";
/// The path of int8 dot products of two elements, whose sums fit 16 bits (passes/paths/Int8Dot2.cpp).
inline constexpr llvm::StringRef kInt8Dot2Path = "int8_dot2";
/// The path of bf16 dot products of two elements in vector registers (passes/paths/Bf16Dot2.cpp).
inline constexpr llvm::StringRef kBf16Dot2Path = "bf16_dot2";
inline constexpr llvm::StringRef kRoundedBf16Dot2Path = "bf16_dot2_rounded";
/// The path of f16 multiply-adds of f32 factors that are rounded (passes/paths/F16Rounded.cpp).
inline constexpr llvm::StringRef kRoundedF16Path = "f16_rounded";
/// The path of int8 dot products of rows that are rounded with quantized weights (passes/paths/Int8Groups.cpp).
inline constexpr llvm::StringRef kRoundedInt8GroupsPath = "int8_groups_rounded";
/// A rounded element of such rows is stored as its number plus this.
inline constexpr int64_t kInt8GroupsZero = 128; // format: of unsigned bytes
/// The path of dot products of rows and weights that are rounded to i16 in groups (passes/paths/Int16Groups.cpp).
inline constexpr llvm::StringRef kRoundedInt16GroupsPath = "int16_groups_rounded";
/// The prefix of the paths that store a weight as fixed-point numbers; the number of bits follows in the name
/// (passes/paths/FixedMatrix.cpp).
inline constexpr llvm::StringRef kFixedPath = "fixed";
/// The path of products of halves, seven in place of eight (passes/paths/StrassenProduct.cpp).
inline constexpr llvm::StringRef kStrassenPath = "strassen";
/// The path of products whose operands are not packed (passes/paths/PlainProduct.cpp).
inline constexpr llvm::StringRef kPlainPath = "plain";
/// The smallest number of queries that attention computes together; a multiple of the f32 vector of every target.
inline constexpr int64_t kQueriesTogether = 16; // format: of packed masks

} // namespace tenon

#endif // TENON_PASSES_KERNEL_H
