//===- Diagnostics.cpp - diagnostics as lines for users ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Unsupported.h"

using namespace mlir;
using namespace tenon;

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context, std::string sourceName, llvm::raw_ostream &os)
    : context(context), sourceName(std::move(sourceName)), os(os) {
  handler = context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) { print(diagnostic); });
}

DiagnosticPrinter::~DiagnosticPrinter() { context.getDiagEngine().eraseHandler(handler); }

void DiagnosticPrinter::warn(const llvm::Twine &message) {
  os << "tenon: warning: " << sourceName << ": " << message << '\n';
}

CompileStatus DiagnosticPrinter::report(llvm::Error error) {
  std::string message;
  CompileStatus category = takeError(std::move(error), message);
  if (!message.empty())
    os << "tenon: error: " << message << '\n';
  return category;
}

llvm::Error DiagnosticPrinter::getFailure() const {
  return makeReportedError(sawUnsupported ? CompileStatus::unsupported
                           : sawInvalid   ? CompileStatus::invalid
                           : sawExhausted ? CompileStatus::resources
                                          : CompileStatus::fault);
}

/// Returns the ONNX name of the node in a location.
static std::string getNodeName(Location loc) {
  std::string name;
  loc->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

void DiagnosticPrinter::print(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
    return;
  sawUnsupported |= isUnsupported(diagnostic);
  sawInvalid |= isInvalid(diagnostic);
  sawExhausted |= isExhausted(diagnostic);
  std::string text = diagnostic.str();
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  // Passes only attach the node's name as the location; the importer also writes it into the text.
  std::string node = getNodeName(diagnostic.getLocation());
  os << "tenon: " << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "warning: ");
  if (!StringRef(text).starts_with(sourceName)) {
    os << sourceName << ": ";
    if (auto file = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      os << "line " << file.getLine() << ": ";
    else if (!node.empty() && !StringRef(text).contains(node))
      os << "node '" << node << "': ";
  }
  os << text << '\n';
}
