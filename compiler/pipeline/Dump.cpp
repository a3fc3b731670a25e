//===- Dump.cpp - the IR after passes, as files ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Dump.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tenon;

namespace {

class DumpInstrumentation : public PassInstrumentation {
public:
  explicit DumpInstrumentation(DumpSequence &sequence) : sequence(sequence) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isAdaptor(pass))
      before.insert_or_assign(op, OperationFingerPrint(op));
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (isAdaptor(pass))
      return;
    auto it = before.find(op);
    bool changed = it == before.end() || it->second != OperationFingerPrint(op);
    before.erase(op);
    std::string name = getName(pass);
    if (name == sequence.afterPass)
      print(llvm::errs(), op);
    if (!changed || sequence.directory.empty())
      return;
    std::string path;
    llvm::raw_string_ostream(path) << sequence.directory << '/' << llvm::format("%04u", sequence.next++) << '-'
                                   << getScope(op) << name << ".mlir";
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    if (error)
      llvm::errs() << "tenon: warning: cannot write " << path << ": " << error.message() << '\n';
    else
      print(os, op);
  }

private:
  /// The pass manager's own passes, which only hold others.
  static bool isAdaptor(Pass *pass) { return pass->getArgument().empty(); }
  static std::string getName(Pass *pass) { return pass->getArgument().str(); }

  /// A kernel's own module is named in the file's name.
  static std::string getScope(Operation *op) {
    auto module = dyn_cast<ModuleOp>(op);
    return module && module.getName() ? module.getName()->str() + "-" : "";
  }

  static void print(llvm::raw_ostream &os, Operation *op) {
    op->print(os, OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(0).useLocalScope());
    os << '\n';
  }

  DumpSequence &sequence;
  llvm::DenseMap<Operation *, OperationFingerPrint> before;
};

} // namespace

std::unique_ptr<PassInstrumentation> tenon::createDumpInstrumentation(DumpSequence &sequence) {
  return std::make_unique<DumpInstrumentation>(sequence);
}
