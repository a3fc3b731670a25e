//===- FormNames.h - what users call the forms of a graph -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forms are pinned as paths are, so their names are known where pins are read. What they are is in passes/forms.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_FORMNAMES_H
#define TENON_PASSES_PATHS_FORMNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tenon {

/// Forms of the matmuls of one value with several constant matrices: separate, or merged into one
/// (passes/forms/SiblingProducts.cpp).
inline constexpr llvm::StringLiteral kSeparateProductsForm = "separate_products";
inline constexpr llvm::StringLiteral kMergedProductsForm = "merged_products";
/// Attention as a kernel for each of its products and its softmax, as one, for each split of its keys, or as one whose
/// products are of bf16 (passes/forms/AttentionForms.cpp).
inline constexpr llvm::StringLiteral kSplitAttentionForm = "split_attention";
inline constexpr llvm::StringLiteral kFusedAttentionForm = "fused_attention";
inline constexpr llvm::StringLiteral kSplitKeysForm = "split_keys";
inline constexpr llvm::StringLiteral kFusedBf16AttentionForm = "fused_attention_bf16";
/// The product of three factors A, B and C, of which two are multiplied first: A and B as the model has them, B and C,
/// or A and C (passes/forms/ProductOrder.cpp).
inline constexpr llvm::StringLiteral kGivenOrderForm = "products_ab_c";
inline constexpr llvm::StringLiteral kLastPairForm = "products_a_bc";
inline constexpr llvm::StringLiteral kOuterPairForm = "products_b_ac";
/// The sums of a matmul with few tiles: as a whole, or in parts that are added afterwards
/// (passes/forms/SplitReductions.cpp).
inline constexpr llvm::StringLiteral kWholeReductionForm = "whole_reduction";
inline constexpr llvm::StringLiteral kSplitReductionForm = "split_reduction";
/// A convolution of few filters with channels last, or first (passes/forms/LayoutForms.cpp).
inline constexpr llvm::StringLiteral kChannelsLastForm = "channels_last";
inline constexpr llvm::StringLiteral kChannelsFirstForm = "channels_first";
/// Two loop nests, of which the second alone reads the first: a kernel for each, or one that computes both tile by tile
/// (passes/forms/ChainForms.cpp).
inline constexpr llvm::StringLiteral kSeparateNestsForm = "separate_nests";
inline constexpr llvm::StringLiteral kChainedNestsForm = "chained_nests";
/// A producer and a consumer that one kernel can compute: fused, or with the producer's result in memory
/// (passes/forms/FusionForms.cpp).
inline constexpr llvm::StringLiteral kFusedProducerForm = "fused_producer";
inline constexpr llvm::StringLiteral kMaterializedProducerForm = "materialized_producer";
/// A result that several kernels read: stored once, or recomputed in each of them (passes/forms/FusionForms.cpp).
inline constexpr llvm::StringLiteral kStoredOnceForm = "stored_once";
inline constexpr llvm::StringLiteral kRecomputedForm = "recomputed_per_consumer";

/// Launches that are one or several (passes/launches/MergeLaunches.cpp). They are decided behind the graph, and so by
/// no source of forms.
inline constexpr llvm::StringLiteral kSeparateLaunchesForm = "separate_launches";
inline constexpr llvm::StringLiteral kMergedLaunchesForm = "merged_launches";
inline constexpr llvm::StringLiteral kLaunchForms[] = {kSeparateLaunchesForm, kMergedLaunchesForm};

/// All forms of all sources (passes/forms/Registry.cpp).
inline constexpr llvm::StringLiteral kFormNames[] = {
    kSeparateProductsForm,   kMergedProductsForm,       kSplitAttentionForm, kFusedAttentionForm, kSplitKeysForm,
    kFusedBf16AttentionForm, kGivenOrderForm,           kLastPairForm,       kOuterPairForm,      kChannelsLastForm,
    kChannelsFirstForm,      kWholeReductionForm,       kSplitReductionForm, kSeparateNestsForm,  kChainedNestsForm,
    kFusedProducerForm,      kMaterializedProducerForm, kStoredOnceForm,     kRecomputedForm};

} // namespace tenon

#endif // TENON_PASSES_PATHS_FORMNAMES_H
