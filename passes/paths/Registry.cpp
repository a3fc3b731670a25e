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
    std::vector<std::unique_ptr<Path>> all;
    all.push_back(createDirectConvolution());
    all.push_back(createWinogradConvolution(2));
    all.push_back(createWinogradConvolution(4));
    all.push_back(createWinogradConvolution(6));
    all.push_back(createPanelProduct());
    all.push_back(createPlainProduct());
    all.push_back(createFixedMatrix(24));
    all.push_back(createFixedMatrix(20));
    all.push_back(createFixedMatrix(16));
    all.push_back(createBytePairs());
    all.push_back(createByteVectors());
    all.push_back(createAmxBytes());
    all.push_back(createWinogradWords(2));
    all.push_back(createWinogradWords(4));
    all.push_back(createBfloatPairs());
    all.push_back(createAmxFloats(1));
    all.push_back(createAmxFloats(2));
    all.push_back(createAmxFloats(3));
    return all;
  }();
  return paths;
}
