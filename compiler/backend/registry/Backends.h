//===- Backends.h - every backend of the compiler ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_REGISTRY_BACKENDS_H
#define TENON_COMPILER_BACKEND_REGISTRY_BACKENDS_H

#include "compiler/backend/Backend.h"
#include <memory>

namespace tenon {

/// The backends that a compilation may choose from, and all their formats, options and targets.
class BackendRegistry {
public:
  /// The order is that of --help. Formats and options must have distinct names.
  explicit BackendRegistry(std::vector<std::unique_ptr<Backend>> backends) : backends(std::move(backends)) {}

  llvm::ArrayRef<std::unique_ptr<Backend>> getBackends() const { return backends; }

  /// Returns the code format of that name and its backend; both are null if there is none.
  std::pair<const Backend *, const CodeFormat *> findFormat(llvm::StringRef name) const;
  /// Returns the target of that name from the first backend that has it.
  std::optional<Target> getTarget(llvm::StringRef name) const;
  std::vector<std::string> getTargetNames() const;
  /// The defaults of all options.
  BackendSettings getDefaultSettings() const;
  void registerDialects(mlir::DialectRegistry &registry) const;

private:
  std::vector<std::unique_ptr<Backend>> backends;
};

/// All backends of the compiler.
const BackendRegistry &getBackendRegistry();

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_REGISTRY_BACKENDS_H
