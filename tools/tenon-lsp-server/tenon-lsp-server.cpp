//===- tenon-lsp-server.cpp - editor support for Tenon's IR ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Pipelines.h"
#include "compiler/import/WeightReferences.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tenon::registerDialects(registry);
  tenon::registerBackendDialects(registry);
  tenon::registerWeightReferences(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
