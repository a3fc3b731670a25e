//===- Registry.cpp - all paths -------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/Path.h"

using namespace tenon;

const std::vector<std::unique_ptr<Path>> &tenon::getPaths() {
  static const auto paths = [] {
    const PathPolicy policy;
    std::vector<std::unique_ptr<Path>> all;
    all.push_back(createDirectConvolution(policy));
    all.push_back(createWinogradConvolution(2, policy));
    all.push_back(createWinogradConvolution(4, policy));
    all.push_back(createWinogradConvolution(6, policy));
    all.push_back(createPanelProduct(policy));
    all.push_back(createPlainProduct(policy));
    all.push_back(createFixedMatrix(24, policy));
    all.push_back(createFixedMatrix(20, policy));
    all.push_back(createFixedMatrix(16, policy));
    all.push_back(createBytePairs(policy));
    all.push_back(createByteVectors(policy));
    all.push_back(createAmxBytes(policy));
    all.push_back(createWinogradWords(2));
    all.push_back(createWinogradWords(4));
    all.push_back(createBfloatPairs(policy));
    all.push_back(createAmxFloats(1, policy));
    all.push_back(createAmxFloats(2, policy));
    all.push_back(createAmxFloats(3, policy));
    return all;
  }();
  return paths;
}
