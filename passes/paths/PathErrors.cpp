//===- PathErrors.cpp - what paths were measured to be off ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathErrors.h"
#include "dialects/tenon/Tenon.h"
#include "passes/paths/Path.h"
#include <cmath>
#include <numeric>

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

void PathErrors::forgetTaken() {
  std::lock_guard<std::mutex> lock(mutex);
  largestTaken = 0;
  variances.clear();
}

static std::pair<std::string, std::string> getPlace(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  return {module ? module.getName().value_or("").str() : "", function.getName().str()};
}

static double getSum(const std::array<double, 3> &variances) {
  return std::accumulate(variances.begin(), variances.end(), 0.0);
}

void PathErrors::setVariance(func::FuncOp function, Step step, double variance) {
  std::lock_guard<std::mutex> lock(mutex);
  variances[getPlace(function)][step] = variance;
}

double PathErrors::getVariance(func::FuncOp function) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = variances.find(getPlace(function));
  return it == variances.end() ? 0 : getSum(it->second);
}

PathErrors::Variances PathErrors::getLargest() const {
  Variances largest{};
  for (const auto &[place, own] : variances)
    if (getSum(own) > getSum(largest))
      largest = own;
  return largest;
}

double PathErrors::getLargestTotal() const { return std::sqrt(getSum(getLargest())); }
