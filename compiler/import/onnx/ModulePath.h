//===- ModulePath.h - where exporters say that a node belongs --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_MODULEPATH_H
#define TENON_COMPILER_IMPORT_ONNX_MODULEPATH_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace onnx {
class NodeProto;
}

namespace tenon::onnx_import {

/// The innermost module of a list as torch.onnx writes it under `pkg.torch.onnx.name_scopes`: the paths of all modules
/// around a node, then the node. `encoder.layer.0` for `['', 'encoder', 'encoder.layer.0', 'linear_4']`.
std::string getInnermostScope(llvm::StringRef scopes);

/// The same of the text that it writes under `namespace`: `encoder.layer.0` for
/// `: Bert/encoder: Encoder/encoder.layer.0: Layer/linear_4: aten.linear.default`.
std::string getInnermostNamespace(llvm::StringRef text);

/// The module that the metadata of a node names; empty where there is none.
std::string getModulePath(const onnx::NodeProto &node);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_MODULEPATH_H
