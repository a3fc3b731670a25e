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

/// Returns the innermost module of a list in the format of torch.onnx's `pkg.torch.onnx.name_scopes`: the paths of all
/// modules around a node, then the node. The result for `['', 'encoder', 'encoder.layer.0', 'linear_4']` is
/// `encoder.layer.0`.
std::string getInnermostScope(llvm::StringRef scopes);

/// The same for the format of `namespace`: the result for `: Bert/encoder: Encoder/encoder.layer.0: Layer/linear_4:
/// aten.linear.default` is `encoder.layer.0`.
std::string getInnermostNamespace(llvm::StringRef text);

/// Returns the module in the metadata of a node; empty if there is none.
std::string getModulePath(const onnx::NodeProto &node);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_MODULEPATH_H
