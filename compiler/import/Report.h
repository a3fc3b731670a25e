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

/// Returns the fault and message of `error`, like takeError. Its category is invalid, unsupported, or resources for a
/// limit.
ImportFault takeFault(llvm::Error error, std::string &message);

/// Collects faults, so that the user sees all of them. Nothing is emitted before `emitAll`, because a diagnostic
/// handler is active during the import.
class Report {
public:
  explicit Report(std::string file) : file(std::move(file)) {}

  /// A fault of the file as a whole.
  void add(ImportFault kind, const llvm::Twine &text);
  /// Adds a fault of a node or an initializer, which `what` names: "node 'conv1' (Conv)".
  void add(ImportFault kind, mlir::Location loc, const llvm::Twine &what, const llvm::Twine &text);

  /// The same, where the error says the kind as well.
  void add(llvm::Error error);
  void add(mlir::Location loc, const llvm::Twine &what, llvm::Error error);

  bool hasFaults() const { return !faults.empty(); }
  size_t size() const { return faults.size(); }
  /// Returns the kind that determines the exit code: an invalid model takes precedence over an exceeded limit, and that
  /// over unsupported features.
  ImportFault getKind() const;
  /// Emits one error per fault, in the order in which they were found, at the node's location. An unsupported feature
  /// is reported once, with the first node that has it and the number of others.
  void emitAll(mlir::MLIRContext *context) const;

  struct Fault {
    ImportFault kind;
    std::optional<mlir::Location> loc;
    std::string text;   ///< without the file's name
    std::string reason; ///< the end of the text, which faults of other nodes may share
  };
  /// Removes and returns the faults from number `begin` on.
  std::vector<Fault> takeFrom(size_t begin);
  void append(std::vector<Fault> more);

private:
  std::string file;
  std::vector<Fault> faults;
};

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_REPORT_H
