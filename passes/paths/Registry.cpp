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
    for (int64_t outputs : {2, 4, 6})
      all.push_back(createWinogradConvolution(outputs, WinogradFactors::f32, policy));
    all.push_back(createPanelProduct(policy));
    all.push_back(createPlainProduct(policy));
    all.push_back(createStrassenProduct(policy));
    for (int64_t bits : {24, 20, 16, 12, 10, 8})
      all.push_back(createFixedMatrix(bits, policy));
    all.push_back(createInt8Dot2(policy));
    all.push_back(createInt8Dot4(policy));
    all.push_back(createAmxInt8Path(policy));
    all.push_back(createWinogradInt8(2));
    all.push_back(createWinogradInt8(4));
    for (bool rounds : {false, true})
      all.push_back(createBf16Dot2(rounds, policy));
    for (int64_t outputs : {2, 4})
      all.push_back(createWinogradConvolution(outputs, WinogradFactors::bf16, policy));
    for (int64_t outputs : {2, 4, 6})
      all.push_back(createWinogradConvolution(outputs, WinogradFactors::scaledI16, policy));
    all.push_back(createF16Rounded(policy));
    all.push_back(createInt8Groups(policy));
    all.push_back(createInt16Groups(policy));
    all.push_back(createInt8Rounded(policy));
    for (int64_t numTerms : {1, 2, 3})
      all.push_back(createAmxBf16Path(numTerms, /*rounds=*/false, policy));
    all.push_back(createAmxBf16Path(1, /*rounds=*/true, policy));
    for (int64_t numTerms : {2, 3})
      all.push_back(createAmxInt8Terms(numTerms, policy));
    return all;
  }();
  return paths;
}
