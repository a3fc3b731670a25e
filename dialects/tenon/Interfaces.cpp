//===- Interfaces.cpp - compute kinds of operations ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Interfaces.h"

using namespace mlir;
using namespace tenon;

#include "TenonInterfaces.cpp.inc"

std::optional<ComputeKind> tenon::getComputeKind(OperationName name) {
  bool isElementwise = name.hasTrait<Elementwise>(), isElementAccess = name.hasTrait<ElementAccess>(),
       isLoopNest = name.hasInterface<LoopNestOpInterface>();
  if (isElementwise + isElementAccess + isLoopNest > 1)
    return std::nullopt;
  if (isElementwise)
    return ComputeKind::elementwise;
  if (isElementAccess)
    return ComputeKind::elementAccess;
  if (isLoopNest)
    return ComputeKind::loopNest;
  bool isComposite = name.hasInterface<CompositeOpInterface>(), needsNoKernel = name.hasTrait<NoKernel>();
  if (isComposite == needsNoKernel)
    return std::nullopt;
  return isComposite ? ComputeKind::decomposed : ComputeKind::noKernel;
}
