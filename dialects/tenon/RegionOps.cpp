//===- RegionOps.cpp - checks of dispatch regions, launches and calls ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launches '") << getKernel() << "', which is no function of this module";
  // Later passes add arguments to a kernel: destinations, sizes, a range of tiles.
  if (kernel.getNumArguments() != getInputs().size())
    return success();
  if (!areCompatible(TypeRange(getInputs()), kernel.getArgumentTypes()) ||
      !areCompatible(getResultTypes(), kernel.getResultTypes()))
    return emitOpError("does not fit the kernel '") << getKernel() << "', which has other types";
  return success();
}

LogicalResult CallOp::verify() {
  for (Type type : llvm::concat<Type>(SmallVector<Type>(getInputs().getTypes()), SmallVector<Type>(getResultTypes())))
    if (auto tensor = cast<RankedTensorType>(type); tensor.getRank() != 1)
      return emitOpError("takes and gives lists, found ") << tensor;
  return success();
}
