//===- Dump.cpp - the IR after passes, as files ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Dump.h"
#include "dialects/tenon/ValueNames.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace tenon;

/// The module is dumped even for a pass on a function, because its attributes, such as ranges of sizes, are needed to
/// understand the IR.
static ModuleOp getModule(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

/// Returns the prefix of the file's name: the name of a kernel's own module, or of a target's.
static std::string getPrefix(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module && module.getName() ? module.getName()->str() + "-" : "";
}

static std::string getScope(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(mlir::SymbolTable::getSymbolAttrName());
  return name ? "@" + name.str() : "the program";
}

DumpSequence::DumpSequence(std::string directory, std::string afterPass, std::string sourceName, WeightLocator locate,
                           WeightLocator locateShown)
    : directory(std::move(directory)), afterPass(std::move(afterPass)), sourceName(std::move(sourceName)),
      readable(std::move(locate)), shown(std::move(locateShown)) {}

/// Returns the nodes that a kernel computes, if `op` is a kernel's module or is within one.
static std::string getNodes(Operation *op) {
  ModuleOp module = getModule(op);
  llvm::SetVector<StringRef> names;
  if (module.getName() && mlir::SymbolTable::lookupSymbolIn(module, *module.getName()))
    module->walk([&](Operation *inner) { forEachNode(inner->getLoc(), [&](StringAttr node) { names.insert(node); }); });
  return llvm::join(names, " + ");
}

/// Replaces line breaks in a name, which would end a comment.
static std::string toLine(StringRef name) {
  std::string line = name.str();
  std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return line;
}

void DumpSequence::printHeader(llvm::raw_ostream &os, StringRef pass, Operation *op) const {
  os << "// IR after " << pass << " of " << getScope(op) << ", " << toLine(llvm::sys::path::filename(sourceName));
  if (std::string nodes = getNodes(op); !nodes.empty())
    os << ", of " << toLine(nodes);
}

void DumpSequence::dump(StringRef pass, Operation *op, bool isChanged, double seconds) {
  if (pass == afterPass) {
    printHeader(llvm::errs(), pass, op);
    if (seconds > 0)
      llvm::errs() << ", " << llvm::format("%.3f", seconds * 1e3) << " ms";
    llvm::errs() << '\n';
    shown.print(getModule(op), llvm::errs());
  }
  if (isChanged && !directory.empty())
    write(pass, op, seconds);
}

void DumpSequence::write(StringRef pass, Operation *op, double seconds) {
  DumpedFile file{"", pass.str(), getScope(op), seconds};
  llvm::raw_string_ostream(file.name) << llvm::format("%04zu", files.size()) << '-' << getPrefix(op) << pass << ".mlir";
  std::string path = directory + "/" + file.name;
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    llvm::errs() << "tenon: warning: cannot write " << path << ": " << error.message() << '\n';
    return;
  }
  // The time is omitted, so that equal compilations write equal files.
  printHeader(os, pass, op);
  os << '\n';
  readable.print(getModule(op), os);
  file.bytes = os.tell();
  files.push_back(std::move(file));
}

namespace {

class DumpInstrumentation : public PassInstrumentation {
public:
  explicit DumpInstrumentation(DumpSequence &sequence) : sequence(sequence) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isAdaptor(pass))
      before.try_emplace(op, State{OperationFingerPrint(op), Clock::now()});
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (isAdaptor(pass))
      return;
    auto it = before.find(op);
    assert(it != before.end() && "a pass ends that did not begin");
    std::chrono::duration<double> time = Clock::now() - it->second.begin;
    bool isChanged = it->second.fingerPrint != OperationFingerPrint(op);
    before.erase(it);
    sequence.dump(pass->getArgument(), op, isChanged, time.count());
  }

  void runAfterPassFailed(Pass *, Operation *op) override { before.erase(op); }

private:
  using Clock = std::chrono::steady_clock;
  struct State {
    OperationFingerPrint fingerPrint;
    Clock::time_point begin;
  };

  /// True for the pass manager's adaptor passes, which only contain other passes.
  static bool isAdaptor(Pass *pass) { return pass->getArgument().empty(); }

  DumpSequence &sequence;
  llvm::DenseMap<Operation *, State> before;
};

} // namespace

std::unique_ptr<PassInstrumentation> tenon::createDumpInstrumentation(DumpSequence &sequence) {
  return std::make_unique<DumpInstrumentation>(sequence);
}
