//===- Search.cpp - bisection and delta debugging -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Search.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace tenon;

size_t debug::findFirstFailing(size_t good, size_t bad, llvm::function_ref<bool(size_t)> fails) {
  assert(good < bad && "what fails comes after what does not");
  while (bad - good > 1) {
    size_t middle = good + (bad - good) / 2;
    (fails(middle) ? bad : good) = middle;
  }
  return bad;
}

/// Returns `items` without one of `parts` equal parts.
static std::vector<size_t> dropPart(const std::vector<size_t> &items, size_t part, size_t parts) {
  std::vector<size_t> rest;
  size_t begin = part * items.size() / parts, end = (part + 1) * items.size() / parts;
  for (size_t i = 0; i < items.size(); ++i)
    if (i < begin || i >= end)
      rest.push_back(items[i]);
  return rest;
}

std::vector<size_t> debug::minimize(size_t count, llvm::function_ref<bool(const std::vector<size_t> &)> fails) {
  std::vector<size_t> items(count);
  std::iota(items.begin(), items.end(), 0);
  size_t parts = 2;
  while (items.size() > 1) {
    bool isSmaller = false;
    for (size_t part = 0; part < parts && !isSmaller; ++part) {
      std::vector<size_t> rest = dropPart(items, part, parts);
      isSmaller = fails(rest);
      if (isSmaller)
        items = std::move(rest);
    }
    if (isSmaller)
      parts = std::max<size_t>(parts - 1, 2);
    else if (parts >= items.size())
      break;
    else
      parts = std::min(2 * parts, items.size());
    parts = std::min(parts, std::max<size_t>(items.size(), 1));
  }
  return items;
}
