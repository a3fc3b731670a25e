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

/// Registers every dialect that Tenon's IR may contain, with the interfaces that its passes need. None is loaded yet.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers Tenon's passes, and MLIR passes that help to inspect its IR, by their command-line names.
void registerPasses();

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_REGISTRATION_H
