//===- DiscardableAttributes.h - attributes that passes leave on operations -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `tenon.*` attributes that passes attach to operations of other dialects. The table in DiscardableAttributes.cpp
// says where each may stand and what it holds; the dialect verifies that, and refuses names that are not in the table.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_DISCARDABLEATTRIBUTES_H
#define TENON_DIALECTS_TENON_DISCARDABLEATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace tenon {

/// Marks a function as a kernel.
inline constexpr llvm::StringLiteral kKernelAttr = "tenon.kernel";
/// On a kernel: the names of its symbols, in the order of its size arguments.
inline constexpr llvm::StringLiteral kSymbolsAttr = "tenon.symbols";
/// On a kernel: how many tiles a launch has, a #tenon.shape of one expression over its symbols. Before
/// `tenon-tile-kernels`, on a loop whose iterations may be the tiles: how many they are.
inline constexpr llvm::StringLiteral kTilesAttr = "tenon.tiles";
/// On a kernel: bytes of scratch that a thread needs to run it.
inline constexpr llvm::StringLiteral kScratchAttr = "tenon.scratch";
/// On an argument: the dimensions of its tensor.
inline constexpr llvm::StringLiteral kDimsAttr = "tenon.dims";
/// On an argument: it is a destination.
inline constexpr llvm::StringLiteral kOutputAttr = "tenon.output";
/// On an argument: the kernel writes the result of this number over it, and nothing to that result's own memory.
/// What launches it passes the same buffer for both.
inline constexpr llvm::StringLiteral kReusedAttr = "tenon.reused";
/// On main's arguments and results: the name that the model gives them.
inline constexpr llvm::StringLiteral kNameAttr = "tenon.name";
/// On main's arguments and results: what part of the model's value they are, a #tenon.role.
inline constexpr llvm::StringLiteral kRoleAttr = "tenon.role";
/// On a module or function: expressions over symbols that must not be negative for any sizes that are bound.
inline constexpr llvm::StringLiteral kRequiresAttr = "tenon.requires";
/// On a module or function: {H = array<i64: 32, 640>}, between which values symbols of inputs are held.
inline constexpr llvm::StringLiteral kRangesAttr = "tenon.ranges";
/// On a module or function: for each of the requirements, in order, what it is that would break; may be empty.
inline constexpr llvm::StringLiteral kRequiresTextAttr = "tenon.requires_text";
/// On a kernel: how many floating-point operations it is (passes/cost/Flops.h), an expression of its symbols; on a
/// plan.launch, an affine map of its sizes.
inline constexpr llvm::StringLiteral kFlopsAttr = "tenon.flops";
/// On a module: the figures of the processor that it is compiled for, a #tenon.machine (passes/cost/Machine.h).
inline constexpr llvm::StringLiteral kMachineAttr = "tenon.machine";
/// On a reshape between two loop nests of a region: how many elements of each dimension of the second one's result a
/// tile has, which computes what it reads of the first one (passes/fusion/Chains.h).
inline constexpr llvm::StringLiteral kChainTileAttr = "tenon.chain_tile";
/// On an operation that there are several ways for, and on its kernel: the one that it takes (passes/paths/Path.h).
inline constexpr llvm::StringLiteral kPathAttr = "tenon.path";
/// On such an operation, and on the kernel that computes it: {direct = 1000, ...}, how many cycles each way would take
/// by estimate.
inline constexpr llvm::StringLiteral kPathsAttr = "tenon.paths";
/// On the same, where real runs count: {direct = 41000}, the nanoseconds of those ways that were measured.
inline constexpr llvm::StringLiteral kPathTimesAttr = "tenon.path_times";
/// On the same: what was computed before a way was taken, as its times are recorded under (passes/paths/PathTimes.h).
inline constexpr llvm::StringLiteral kRegionAttr = "tenon.region";
/// On an operation that the path of another one needs, and on a kernel of nothing else: the region of that other one.
inline constexpr llvm::StringLiteral kServedRegionAttr = "tenon.served_region";
/// On a kernel, until it is tiled: what it computes, as times of its schedules are recorded under
/// (passes/kernel/schedules/KernelRegion.h).
inline constexpr llvm::StringLiteral kKernelRegionAttr = "tenon.kernel_region";
/// On a math.exp of a number that is not above 0, whose result is not used where it is below the normal numbers.
inline constexpr llvm::StringLiteral kNormalAttr = "tenon.normal";
/// On a function or kernel: {N = 128}, the size hints of its symbols: values that choices are made for
/// (passes/cost/SizeHints.h).
inline constexpr llvm::StringLiteral kSizeHintsAttr = "tenon.size_hints";
/// On a copy of main for some sizes: which those are, for people.
inline constexpr llvm::StringLiteral kProgramAttr = "tenon.program";
/// On main and its copies for some sizes: they read the same weights, which are stored once.
inline constexpr llvm::StringLiteral kSharesWeightsAttr = "tenon.shares_weights";
/// On a kernel: how many bytes of memory it reads and writes (passes/cost/MemoryTraffic.h), an expression of its
/// symbols; on a plan.launch, an affine map of its sizes.
inline constexpr llvm::StringLiteral kBytesAttr = "tenon.bytes";
/// On a module: the name that the model gives itself.
inline constexpr llvm::StringLiteral kModelAttr = "tenon.model";
/// On a tenon.transpose or tenon.reshape, while one pass of passes/layout runs: it moves towards the results.
inline constexpr llvm::StringLiteral kSinksAttr = "tenon.sinks";
/// On a math.powf, while tenon-expand-shader-math runs: its operands are in the range in which shaders define it.
inline constexpr llvm::StringLiteral kDefinedAttr = "tenon.defined";

} // namespace tenon

#endif // TENON_DIALECTS_TENON_DISCARDABLEATTRIBUTES_H
