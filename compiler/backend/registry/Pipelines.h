//===- Pipelines.h - dialects and pipelines of backends, for tools -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_REGISTRY_PIPELINES_H
#define TENON_COMPILER_BACKEND_REGISTRY_PIPELINES_H

namespace mlir {
class DialectRegistry;
}

namespace tenon {

/// Registers the dialects that backends lower kernels to, for tools that parse IR and generate no code.
void registerBackendDialects(mlir::DialectRegistry &registry);

/// Registers the pipelines of all backends by their command-line names.
void registerBackendPipelines();

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_REGISTRY_PIPELINES_H
