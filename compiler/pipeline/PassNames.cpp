//===- PassNames.cpp - the passes of a compilation, by name ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/PassNames.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Adds the pass names in "builtin.module(func.func(cse,canonicalize{top-down=true}))": those outside of braces that
/// are not followed by '('. The text is the only way to inspect a nested pass manager.
static void addNames(StringRef pipeline, std::vector<std::string> &names) {
  std::string name;
  int depth = 0;
  for (char c : pipeline.str() + ",") {
    if (c == '{' || c == '}')
      depth += c == '{' ? 1 : -1;
    else if (depth > 0)
      continue;
    else if (llvm::isAlnum(c) || c == '-' || c == '.' || c == '_')
      name += c;
    else {
      if (c != '(' && !name.empty() && !llvm::is_contained(names, name))
        names.push_back(name);
      name.clear();
    }
  }
}

std::vector<std::string> tenon::getPassNames(llvm::function_ref<void(OpPassManager &)> buildBackend) {
  std::vector<std::string> names;
  OpPassManager pm(ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  buildGraphPipeline(pm, nullptr);
  buildBufferPipeline(pm);
  buildBackend(pm);
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  addNames(text, names);
  return names;
}

std::vector<std::string> tenon::getClosest(StringRef name, std::vector<std::string> names) {
  constexpr size_t kFew = 3;
  // Who types a part of a name means that one.
  auto distance = [&](StringRef known) {
    return name.size() > 2 && known.contains(name) ? 0 : known.edit_distance(name);
  };
  llvm::stable_sort(names, [&](StringRef a, StringRef b) { return distance(a) < distance(b); });
  names.resize(std::min(names.size(), kFew));
  return names;
}
