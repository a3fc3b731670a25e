//===- Kernel.h - attributes that kernels carry between passes ------------===//
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

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tenon {

/// Marks a function as a kernel.
inline constexpr llvm::StringRef kKernelAttr = "tenon.kernel";
/// On a kernel: the names of its symbols, in the order of its size arguments.
inline constexpr llvm::StringRef kSymbolsAttr = "tenon.symbols";
/// On a kernel: how many tiles a launch has, a #tenon.shape of one expression over its symbols. Before
/// `tenon-tile-kernels`, on a loop whose iterations may be the tiles: how many they are.
inline constexpr llvm::StringRef kTilesAttr = "tenon.tiles";
/// On a kernel: bytes of scratch that a thread needs to run it.
inline constexpr llvm::StringRef kScratchAttr = "tenon.scratch";
/// On an argument: the dimensions of its tensor.
inline constexpr llvm::StringRef kDimsAttr = "tenon.dims";
/// On an argument: it is a destination.
inline constexpr llvm::StringRef kOutputAttr = "tenon.output";
/// On an argument: the kernel writes the result of this number over it, and nothing to that result's own memory.
/// What launches it passes the same buffer for both.
inline constexpr llvm::StringRef kReusedAttr = "tenon.reused";
/// On main's arguments and results: the name that the model gives them.
inline constexpr llvm::StringRef kNameAttr = "tenon.name";
/// On main's arguments and results: what part of the model's value they are, as plan.fbs's Role calls it.
inline constexpr llvm::StringRef kRoleAttr = "tenon.role";
/// On a module or function: expressions over symbols that must not be negative for any sizes that are bound.
inline constexpr llvm::StringRef kRequiresAttr = "tenon.requires";
/// On a module or function: {H = array<i64: 32, 640>}, between which values symbols of inputs are held.
inline constexpr llvm::StringRef kRangesAttr = "tenon.ranges";
/// On a function: for each of them, in order, what it is that would break; may be empty.
inline constexpr llvm::StringRef kRequiresTextAttr = "tenon.requires_text";
/// On a kernel and its launches: how many floating-point operations it is (passes/cost/Flops.h), where that is
/// constant.
inline constexpr llvm::StringRef kFlopsAttr = "tenon.flops";
/// On a module: the figures of the processor that it is compiled for (passes/cost/Machine.h).
inline constexpr llvm::StringRef kMachineAttr = "tenon.machine";
/// On a reshape between two loop nests of a region: how many elements of each dimension of the second one's result a
/// tile has, which computes what it reads of the first one (passes/fusion/Chains.h).
inline constexpr llvm::StringRef kChainTileAttr = "tenon.chain_tile";
/// On an operation that there are several ways for, and on its kernel: the one that it takes (passes/paths/Path.h).
inline constexpr llvm::StringRef kPathAttr = "tenon.path";
/// The way of products of bytes in tile registers (passes/paths/AmxBytes.cpp).
inline constexpr llvm::StringRef kAmxPath = "amx";
/// The way of products of bytes in vectors, by pairs whose sums fit 16 bits (passes/paths/BytePairs.cpp).
inline constexpr llvm::StringRef kBytePairsPath = "byte_pairs";
/// The way of products of bf16 in vectors, by pairs (passes/paths/BfloatPairs.cpp).
inline constexpr llvm::StringRef kBfloatPairsPath = "bf16_pairs";
/// The ways of products with a matrix of numbers of fewer bits, which follow in the name
/// (passes/paths/FixedMatrix.cpp).
inline constexpr llvm::StringRef kFixedPath = "fixed";
/// The way of products whose operands stay as they lie (passes/paths/PlainProduct.cpp).
inline constexpr llvm::StringRef kPlainPath = "plain";
/// On such an operation, and on the kernel that computes it: {direct = 1000, ...}, how many cycles each way would take
/// by estimate.
inline constexpr llvm::StringRef kPathsAttr = "tenon.paths";
/// On a math.exp of a number that is not above 0, whose result is not used where it is below the normal numbers.
inline constexpr llvm::StringRef kNormalAttr = "tenon.normal";
/// So many queries of attention are done together at least: what vectors of all targets divide.
inline constexpr int64_t kQueriesTogether = 16;
/// On a function or kernel: {N = 128}, which values its symbols have most often (passes/cost/UsualSizes.h).
inline constexpr llvm::StringRef kUsualAttr = "tenon.usual";
/// On a copy of main for some sizes: which those are, for people.
inline constexpr llvm::StringRef kProgramAttr = "tenon.program";

} // namespace tenon

#endif // TENON_PASSES_KERNEL_H
