//===- Report.h - collects what is wrong with a model ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_REPORT_H
#define TENON_COMPILER_IMPORT_REPORT_H

#include "compiler/import/ImportModel.h"
#include "mlir/IR/Location.h"
#include <string>
#include <vector>

namespace tenon {

/// Takes `error` apart as takeError does. Its category is invalid, unsupported, or resources for a limit.
ImportFault takeFault(llvm::Error error, std::string &message);

/// Collects faults, so that a user sees all of them and not the first alone. Nothing is emitted before
/// `emitAll`, since a diagnostic handler is active during the import.
class Report {
public:
  explicit Report(std::string file) : file(std::move(file)) {}

  /// A fault of the file as a whole.
  void add(ImportFault kind, const llvm::Twine &text);
  /// A fault of a node or an initializer: `what` names it, "node 'conv1' (Conv)".
  void add(ImportFault kind, mlir::Location loc, const llvm::Twine &what, const llvm::Twine &text);

  /// The same, where the error says the kind as well.
  void add(llvm::Error error);
  void add(mlir::Location loc, const llvm::Twine &what, llvm::Error error);

  bool hasFaults() const { return !faults.empty(); }
  size_t size() const { return faults.size(); }
  /// The kind that the exit code follows: an invalid model counts more than an exceeded limit, and that more than what
  /// is not supported.
  ImportFault getKind() const;
  /// Emits one error a fault, in the order found, at the node's location. What is not supported is said once, with the
  /// first node that has it and how many more there are.
  void emitAll(mlir::MLIRContext *context) const;

  struct Fault {
    ImportFault kind;
    std::optional<mlir::Location> loc;
    std::string text;   ///< without the file's name
    std::string reason; ///< the end of the text, which faults of other nodes may share
  };
  /// Takes the faults from a number on out of the report, which forgets them.
  std::vector<Fault> takeFrom(size_t begin);
  void append(std::vector<Fault> more);

private:
  std::string file;
  std::vector<Fault> faults;
};

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_REPORT_H
