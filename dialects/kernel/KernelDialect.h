//===- KernelDialect.h - the kernel dialect -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_KERNEL_KERNELDIALECT_H
#define TENON_DIALECTS_KERNEL_KERNELDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "KernelDialect.h.inc"
#include "KernelEnums.h.inc"

namespace tenon::kernel {

/// The parameters of a schedule with their defaults, as `#kernel.schedule` documents them.
struct ScheduleFields {
  MicroKernel microKernel = MicroKernel::automatic;
  llvm::SmallVector<int64_t> tile;
  Packing packing = Packing::none;
  int64_t lastRows = 0, rowVersions = 0;
  bool manyRows = false;
  int64_t kBlock = 0, prefetch = 0;
  bool prefetches = true;
  llvm::SmallVector<int64_t> block;
  int64_t unroll = 0, vectorBits = 0;
  bool columnsSlowest = false;
};

} // namespace tenon::kernel

#define GET_ATTRDEF_CLASSES
#include "KernelAttrs.h.inc"
#define GET_OP_CLASSES
#include "KernelOps.h.inc"

namespace mlir {
class DialectRegistry;
}

namespace tenon::kernel {

/// Registers how operations of this dialect are bufferized.
void registerBufferizableOpInterfaceExternalModels(mlir::DialectRegistry &registry);

/// Returns the schedule of a contraction; parameters that were not chosen have their defaults.
ScheduleAttr getSchedule(ContractOp op);

} // namespace tenon::kernel

#endif // TENON_DIALECTS_KERNEL_KERNELDIALECT_H
