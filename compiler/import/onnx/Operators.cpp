//===- Operators.cpp - which operators the import takes -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Operators.h"
#include "compiler/import/onnx/OpTable.h"
#include <map>
#include <onnx/defs/schema.h>

using namespace tenon;
using namespace tenon::onnx_import;

std::vector<OperatorSupport> tenon::getOperatorSupport() {
  std::map<std::pair<std::string, std::string>, OperatorSupport> found;
  for (const onnx::OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.deprecated())
      continue;
    std::string domain = schema.domain().empty() ? "ai.onnx" : schema.domain();
    auto [it, isNew] = found.try_emplace({domain, schema.Name()},
                                         OperatorSupport{domain, schema.Name(), schema.SinceVersion(), "none"});
    OperatorSupport &op = it->second;
    op.since = std::min(op.since, schema.SinceVersion());
    if (op.how == "none" && (schema.HasFunction() || schema.HasContextDependentFunction()))
      op.how = "function";
    const OpEntry *entry = findOp(schema.domain(), schema.Name(), schema.SinceVersion());
    if (entry && entry->isSupported)
      op.how = "handler";
  }
  for (llvm::StringRef name : getMicrosoftOpNames())
    found.try_emplace({"com.microsoft", name.str()}, OperatorSupport{"com.microsoft", name.str(), 1, "handler"});
  std::vector<OperatorSupport> list;
  for (auto &[key, op] : found)
    list.push_back(std::move(op));
  return list;
}
