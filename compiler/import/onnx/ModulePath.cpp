//===- ModulePath.cpp - where exporters say that a node belongs ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ModulePath.h"
#include "compiler/import/ImportModel.h"
#include "llvm/ADT/SmallVector.h"
#include <onnx/onnx_pb.h>

using namespace tenon;
using llvm::StringRef;

/// Returns the last module around a node; the last name is that of the node itself.
static std::string getInnermost(llvm::ArrayRef<StringRef> names) {
  return names.size() < 2 ? "" : names[names.size() - 2].str();
}

std::string onnx_import::getInnermostScope(StringRef scopes) {
  llvm::SmallVector<StringRef> names;
  while (true) {
    size_t begin = scopes.find_first_of("'\"");
    size_t end = begin == StringRef::npos ? begin : scopes.find(scopes[begin], begin + 1);
    if (end == StringRef::npos)
      return getInnermost(names);
    names.push_back(scopes.slice(begin + 1, end));
    scopes = scopes.drop_front(end + 1);
  }
}

std::string onnx_import::getInnermostNamespace(StringRef text) {
  llvm::SmallVector<StringRef> names;
  text.split(names, '/');
  for (StringRef &name : names)
    name = name.split(':').first.trim();
  return getInnermost(names);
}

std::string onnx_import::getModulePath(const onnx::NodeProto &node) {
  std::string path;
  for (const onnx::StringStringEntryProto &entry : node.metadata_props()) {
    if (entry.value().size() > static_cast<size_t>(ImportLimits::kMaxNameLength))
      continue;
    if (entry.key() == "pkg.torch.onnx.name_scopes")
      path = getInnermostScope(entry.value());
    else if (entry.key() == "namespace" && path.empty())
      path = getInnermostNamespace(entry.value());
  }
  return path;
}
