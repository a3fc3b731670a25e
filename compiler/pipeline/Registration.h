//===- Registration.h - dialects and passes, for tools --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_REGISTRATION_H
#define TENON_COMPILER_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace tenon {

/// Every dialect that Tenon's IR may hold, with the interfaces that its passes need. None is loaded yet.
void registerDialects(mlir::DialectRegistry &registry);

/// Tenon's passes, and those of MLIR that help to look at its IR, by their command-line names.
void registerPasses();

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_REGISTRATION_H
