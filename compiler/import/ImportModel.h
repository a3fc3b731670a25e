//===- ImportModel.h - what all importers are told, and what they give ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_IMPORTMODEL_H
#define TENON_COMPILER_IMPORT_IMPORTMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace tenon {

/// The command line options about the model's inputs.
struct ImportOptions {
  /// The dimensions of an input, each a number or the name of a symbol. If `name` is a symbol of the model and no
  /// input, the only element replaces that symbol everywhere.
  struct Shape {
    std::string name;
    std::vector<std::string> dims;
  };
  /// The values that a symbol may take, with both ends included.
  struct Range {
    std::string symbol;
    int64_t min, max;
  };
  /// The value of an input, which becomes a constant: comma-separated numbers in the input's shape, or `@FILE`, a
  /// serialized TensorProto. It can provide values that an operator needs at compile time (axes, a condition, a
  /// sampling rate).
  struct Constant {
    std::string input, value;
  };
  std::vector<Shape> shapes;
  std::vector<Range> ranges;
  std::vector<std::string> profiled; ///< symbols that `--specialize` names
  std::vector<Constant> constants;
  /// The number of tokens whose keys and values a language model keeps between runs. With 0, each run processes a whole
  /// text.
  int64_t context = 0;
  /// The type in which they are kept.
  enum class ContextType { f32, f16, bf16 };
  ContextType contextType = ContextType::f32;
  /// The numbers of sequences, each from 2 on, for which a language model with a context has a program of its own: it
  /// takes one token of each.
  std::vector<int64_t> sequences;
  std::vector<std::string> marked;  ///< values that become outputs, after those of the model
  std::vector<std::string> plugins; ///< files with operators that are neither ONNX's nor ours
  /// Called with the path of each file that is read, and its bytes on disk.
  std::function<void(llvm::StringRef path, uint64_t bytes)> onInputFile;
  /// Upper bound for the nodes after the expansion of functions, branches, loops and recurrent operators.
  int64_t maxExpandedNodes = 200000;

  /// Parses `NAME=1x3xHxW`, the value of `--shape`, and adds it to `options`.
  static llvm::Error parseShape(llvm::StringRef text, ImportOptions &options);
  /// Reads `H=32..640`, the value of `--range`.
  static llvm::Error parseRange(llvm::StringRef text, ImportOptions &options);
  /// Parses `NAME=1,2` or `NAME=@FILE`, the value of `--constant`.
  static llvm::Error parseConstant(llvm::StringRef text, ImportOptions &options);
};

/// Limits for models, so that a small file cannot keep the import busy for long. Reaching one is a fault of kind
/// `limit`, which names it.
struct ImportLimits {
  static constexpr int64_t kMaxRank = 64;                      ///< dimensions of a tensor, as the runtime has it
  static constexpr int64_t kMaxNesting = 64;                   ///< functions and graphs inside of each other
  static constexpr int64_t kMaxNameLength = 4096;              ///< bytes of a name
  static constexpr int64_t kMaxCopiedBytes = int64_t(1) << 30; ///< of functions that are copied for each call
};

/// The kind of a failure, which determines the exit code: 0, 1, 1, 3, 4. A malformed model is invalid for all sizes of
/// the inputs.
enum class ImportFault { none, invalidModel, malformed, unsupported, limit };

/// The module, or the kind of the failure. Constants of more than a few elements are resources that point into the
/// file's memory; the context's resource table shares the ownership of that memory, so the module may be moved and
/// cloned freely, and it is freed with the context.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ImportFault fault = ImportFault::none;

  explicit operator bool() const { return static_cast<bool>(module); }
};

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_IMPORTMODEL_H
