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

/// Makes the pipelines of `builder` mark loops, before they are vectorised, with what LLVM's own figures do
/// not say.
void addLoopHints(llvm::PassBuilder &builder);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_LOOPHINTS_H
