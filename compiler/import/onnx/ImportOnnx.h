//===- ImportOnnx.h - an ONNX model in, the tenon dialect out -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_IMPORTONNX_H
#define TENON_COMPILER_IMPORT_ONNX_IMPORTONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace tenon {

/// What the command line says about the model's inputs.
struct ImportOptions {
  /// The dimensions of an input, each a number or the name of a symbol. Where `name` is no input but a
  /// symbol of the model, the only element is what stands for that symbol everywhere.
  struct Shape {
    std::string name;
    std::vector<std::string> dims;
  };
  /// The values that a symbol may take, both ends included.
  struct Range {
    std::string symbol;
    int64_t min, max;
  };
  /// The value of an input, which is then a constant and no argument: numbers separated by commas, in the
  /// input's shape, or `@FILE`, a serialized TensorProto. What an operator needs to know when compiling
  /// (axes, a condition, a sampling rate) may be given so.
  struct Constant {
    std::string input, value;
  };
  std::vector<Shape> shapes;
  std::vector<Range> ranges;
  std::vector<Constant> constants;
  /// Nodes that functions, branches, loops and recurrent operators may be expanded to, all in all.
  int64_t maxExpandedNodes = 200000;

  /// Reads `NAME=1x3xHxW`, the value of `--shape`. Says in `error` what is wrong with it, where it fails.
  static mlir::LogicalResult parseShape(llvm::StringRef text, ImportOptions &options, std::string &error);
  /// Reads `H=32..640`, the value of `--range`.
  static mlir::LogicalResult parseRange(llvm::StringRef text, ImportOptions &options, std::string &error);
  /// Reads `NAME=1,2` or `NAME=@FILE`, the value of `--constant`.
  static mlir::LogicalResult parseConstant(llvm::StringRef text, ImportOptions &options, std::string &error);
};

/// Who is at fault, which the exit code follows: 0, 1, 3.
enum class ImportFault { None, InvalidModel, Unsupported };

/// The module, or the reason why there is none. Constants of more than a few elements are resources that
/// point into the file's memory; the context's resource table shares the ownership of that memory, so the
/// module may be moved and cloned freely, and it is freed with the context.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ImportFault fault = ImportFault::None;

  explicit operator bool() const { return static_cast<bool>(module); }
};

/// Imports a model file. The module holds `func.func @main` with the graph's inputs as arguments and its
/// outputs as results, in order, each with its name as the attribute `tenon.name`. The module's attributes:
///
///   tenon.model     the graph's name
///   tenon.ranges    {H = array<i64: 32, 640>}, as given by the options
///   tenon.requires  #tenon.shape<...>: expressions over symbols that must not be negative when sizes are
///                   bound. The import relied on them, where the operator would have clamped
///
/// Where it fails, everything that is wrong was emitted as errors on the context, one line each, at the
/// locations of the nodes. Never throws.
ImportedModel importOnnxFile(llvm::StringRef path, const ImportOptions &options, mlir::MLIRContext *context);

/// Imports a model that is in memory. `name` stands for it in messages; external data is looked for in the
/// folder of `path`, and refused where `path` is empty.
ImportedModel importOnnxModel(std::unique_ptr<onnx::ModelProto> model, llvm::StringRef name,
                              llvm::StringRef path, const ImportOptions &options, mlir::MLIRContext *context);

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_ONNX_IMPORTONNX_H
