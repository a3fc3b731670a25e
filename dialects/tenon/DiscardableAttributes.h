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
/// On a kernel: the number of tiles in a launch, a #tenon.shape of one expression over its symbols. Before
/// `tenon-tile-kernels`, on a loop whose iterations may become the tiles: their number.
inline constexpr llvm::StringLiteral kTilesAttr = "tenon.tiles";
/// On a kernel: the bytes of scratch that a thread needs to run it.
inline constexpr llvm::StringLiteral kScratchAttr = "tenon.scratch";
/// On an argument: the dimensions of its tensor.
inline constexpr llvm::StringLiteral kDimsAttr = "tenon.dims";
/// On an argument: it is a destination.
inline constexpr llvm::StringLiteral kOutputAttr = "tenon.output";
/// On an argument: the number of the result that the kernel writes to this argument's memory, instead of memory of its
/// own. A launch passes the same buffer for both.
inline constexpr llvm::StringLiteral kReusedAttr = "tenon.reused";
/// On main's arguments and results: their names in the model.
inline constexpr llvm::StringLiteral kNameAttr = "tenon.name";
/// On main's arguments and results: the part of the model's value that they represent, a #tenon.role.
inline constexpr llvm::StringLiteral kRoleAttr = "tenon.role";
/// On a module or function: expressions over symbols that must not be negative for any bound sizes.
inline constexpr llvm::StringLiteral kRequiresAttr = "tenon.requires";
/// On a module or function: {H = array<i64: 32, 640>}, the ranges of the inputs' symbols.
inline constexpr llvm::StringLiteral kRangesAttr = "tenon.ranges";
/// On a module or function: for each requirement, in order, the reason for it; may be empty.
inline constexpr llvm::StringLiteral kRequiresTextAttr = "tenon.requires_text";
/// On a kernel: its floating-point operations (passes/cost/Flops.h), an expression over its symbols; on a plan.launch,
/// an affine map of its sizes.
inline constexpr llvm::StringLiteral kFlopsAttr = "tenon.flops";
/// On a module: the properties of its target processor, a #tenon.machine (passes/cost/Machine.h).
inline constexpr llvm::StringLiteral kMachineAttr = "tenon.machine";
/// On a reshape between two loop nests of a region: the tile of the second nest's result, which computes the part of
/// the first one's result that it reads (passes/fusion/Chains.h).
inline constexpr llvm::StringLiteral kChainTileAttr = "tenon.chain_tile";
/// On an operation, until it is in a dispatch region: its result is materialized, although `tenon-fuse` would compute
/// it in the kernel of its consumers, or its consumers in its own (passes/forms/FusionForms.cpp).
inline constexpr llvm::StringLiteral kMaterializedAttr = "tenon.materialized";
/// On such an operation: each kernel that reads its result recomputes it, although `tenon-fuse` would store it once.
inline constexpr llvm::StringLiteral kRecomputedAttr = "tenon.recomputed";
/// On an operation that has several paths, and on its kernel: the path that was chosen (passes/paths/Path.h).
inline constexpr llvm::StringLiteral kPathAttr = "tenon.path";
/// On such an operation, and on the kernel that computes it: {direct = 1000, ...}, the estimated cycles of each path.
inline constexpr llvm::StringLiteral kPathsAttr = "tenon.paths";
/// On the same, if records of real runs are used: {direct = 41000}, the nanoseconds of the paths that were measured.
inline constexpr llvm::StringLiteral kPathTimesAttr = "tenon.path_times";
/// On the same: the operation before a path was chosen, as the key of recorded times (passes/paths/PathTimes.h).
inline constexpr llvm::StringLiteral kRegionAttr = "tenon.region";
/// On an operation that only the path of another one needs, and on a kernel of such operations: the region of that
/// other one.
inline constexpr llvm::StringLiteral kServedRegionAttr = "tenon.served_region";
/// On a kernel, until it is tiled: a text of what it computes, as the key of recorded times of its schedules
/// (passes/kernel/schedules/KernelRegion.h).
inline constexpr llvm::StringLiteral kKernelRegionAttr = "tenon.kernel_region";
/// On a math.exp of a number <= 0 whose result is not used if it is denormal.
inline constexpr llvm::StringLiteral kNormalAttr = "tenon.normal";
/// On a function or kernel: {N = 128}, the size hints of its symbols: values that choices are tuned for
/// (passes/cost/SizeHints.h).
inline constexpr llvm::StringLiteral kSizeHintsAttr = "tenon.size_hints";
/// On a copy of main for some sizes: a displayed text of these sizes.
inline constexpr llvm::StringLiteral kProgramAttr = "tenon.program";
/// On main and its copies for some sizes: they read the same weights, which are stored once.
inline constexpr llvm::StringLiteral kSharesWeightsAttr = "tenon.shares_weights";
/// On a function whose runs are of several sequences: their number, from 2 on. It uses the states of each.
inline constexpr llvm::StringLiteral kSequencesAttr = "tenon.sequences";
/// On a kernel: the bytes of memory that it reads and writes (passes/cost/MemoryTraffic.h), an expression over its
/// symbols; on a plan.launch, an affine map of its sizes.
inline constexpr llvm::StringLiteral kBytesAttr = "tenon.bytes";
/// On a module: the model's own name.
inline constexpr llvm::StringLiteral kModelAttr = "tenon.model";
/// On a tenon.transpose or tenon.reshape, during one pass of passes/layout: it is being moved towards the results.
inline constexpr llvm::StringLiteral kSinksAttr = "tenon.sinks";
/// On a math.powf, during tenon-expand-shader-math: its operands are in the range in which shaders define it.
inline constexpr llvm::StringLiteral kDefinedAttr = "tenon.defined";

} // namespace tenon

#endif // TENON_DIALECTS_TENON_DISCARDABLEATTRIBUTES_H
