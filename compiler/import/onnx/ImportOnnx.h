//===- ImportOnnx.h - an ONNX model in, the tenon dialect out -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_IMPORTONNX_H
#define TENON_COMPILER_IMPORT_ONNX_IMPORTONNX_H

#include "compiler/import/ImportModel.h"
#include <memory>

namespace onnx {
class ModelProto;
}

namespace tenon {

/// Imports a model file. The module holds `func.func @main` with the graph's inputs as arguments and its
/// outputs as results, in order, each with its name as the attribute `tenon.name`. The module's attributes:
///
///   tenon.model     the graph's name
///   tenon.ranges    {H = array<i64: 32, 640>}, as given by the options
///   tenon.requires  #tenon.shape<...>: expressions over symbols that must not be negative when sizes are
///                   bound. The import relied on them, where the operator would have clamped
///
/// If it fails, all errors are emitted on the context, one line each, at the locations of the nodes. Never throws.
ImportedModel importOnnxFile(llvm::StringRef path, const ImportOptions &options, mlir::MLIRContext *context);

/// Imports a model in memory. `name` is its name in messages; external data is read from the folder of `path`, and
/// rejected if `path` is empty.
ImportedModel importOnnxModel(std::unique_ptr<onnx::ModelProto> model, llvm::StringRef name, llvm::StringRef path,
                              const ImportOptions &options, mlir::MLIRContext *context);

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_ONNX_IMPORTONNX_H
