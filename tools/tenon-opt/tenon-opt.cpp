//===- tenon-opt.cpp - runs passes on .mlir files -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Registration.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tenon::registerDialects(registry);
  tenon::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tenon optimizer driver\n", registry));
}
