//===- PathErrors.cpp - what paths were measured to be off ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathErrors.h"
#include "dialects/tenon/Tenon.h"
#include "passes/paths/Path.h"

using namespace mlir;
using namespace tenon;

/// Returns everything that an error depends on, as pointers that are equal in copies of the operation.
static std::vector<const void *> getKey(const Path &path, Operation *op) {
  std::vector<const void *> key{&path, op->getName().getAsOpaquePointer(),
                                op->getAttrDictionary().getAsOpaquePointer()};
  for (Value operand : op->getOperands()) {
    auto weight = operand.getDefiningOp<WeightOp>();
    key.push_back(weight ? weight.getValue().getAsOpaquePointer() : operand.getType().getAsOpaquePointer());
  }
  return key;
}

double PathErrors::measure(const Path &path, Operation *op, double limit) {
  if (double least = path.getLeastError(op); least > limit)
    return least;
  std::vector<const void *> key = getKey(path, op);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = known.find(key); it != known.end())
      return it->second;
  }
  double error = path.measureError(op);
  std::lock_guard<std::mutex> lock(mutex);
  known.emplace(std::move(key), error);
  return error;
}

void PathErrors::addTaken(double error) {
  std::lock_guard<std::mutex> lock(mutex);
  largestTaken = std::max(largestTaken, error);
}

void PathErrors::addTotal(double total) {
  std::lock_guard<std::mutex> lock(mutex);
  largestTotal = std::max(largestTotal, total);
}
