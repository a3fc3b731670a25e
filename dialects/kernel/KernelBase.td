//===- KernelBase.td - the kernel dialect ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_KERNEL_BASE_TD
#define TENON_KERNEL_BASE_TD

include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::tenon::kernel";
  let summary = "Operations inside of kernels: contractions, Winograd tiles and scratch memory";
  let description = [{
    Operations on tensors with destinations, as linalg's are, that can be tiled.
    On buffers each becomes loops around memory of the thread's own.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif // TENON_KERNEL_BASE_TD
