//===- LoopHints.h - what LLVM is told of loops ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_LOOPHINTS_H
#define TENON_COMPILER_BACKEND_LLVM_LOOPHINTS_H

namespace llvm {
class PassBuilder;
}

namespace tenon {

/// Adds a pass to the pipelines of `builder` that annotates loops, before vectorization, where LLVM's own cost model is
/// insufficient. `hasBf16` is true for targets with instructions that round vectors of 512 bits to bf16.
void addLoopHints(llvm::PassBuilder &builder, bool hasBf16);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_LOOPHINTS_H
