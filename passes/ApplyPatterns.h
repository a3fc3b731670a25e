//===- ApplyPatterns.h - rewriting by patterns that says what they decide -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_APPLYPATTERNS_H
#define TENON_PASSES_APPLYPATTERNS_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace tenon {

/// Writes which patterns apply at which operation to the debug output of a pass, and at level 2 why others do not.
class PatternLog : public mlir::RewriterBase::Listener {
public:
  explicit PatternLog(const char *debugType) : debugType(debugType) {}

  void notifyPatternBegin(const mlir::Pattern &pattern, mlir::Operation *op) override { location = op->getLoc(); }

  void notifyPatternEnd(const mlir::Pattern &pattern, mlir::LogicalResult status) override {
    if (succeeded(status))
      LDBG(debugType, 1) << "applies " << getName(pattern) << " at " << location;
  }

  void notifyMatchFailure(mlir::Location loc, llvm::function_ref<void(mlir::Diagnostic &)> explain) override {
    mlir::Diagnostic reason(loc, mlir::DiagnosticSeverity::Remark);
    explain(reason);
    LDBG(debugType, 2) << "leaves the operation at " << loc << ", which " << reason.str();
  }

private:
  /// The pattern's class, without its namespaces.
  static llvm::StringRef getName(const mlir::Pattern &pattern) {
    llvm::StringRef name = pattern.getDebugName();
    return name.substr(name.rfind(':') + 1);
  }

  [[maybe_unused]] const char *debugType; ///< nothing is logged where assertions are off
  mlir::LocationAttr location;            ///< of the operation at which a pattern is tried
};

/// Applies the patterns to all operations inside `op` until none matches, and writes what they do to the debug output
/// of the pass `pass`. Fails if they do not converge.
inline mlir::LogicalResult applyPatterns(mlir::Operation *op, mlir::RewritePatternSet patterns,
                                         llvm::StringLiteral pass, mlir::GreedyRewriteConfig config = {}) {
  // A StringLiteral ends with a null byte, which the check does not know.
  PatternLog log(pass.data()); // NOLINT(bugprone-suspicious-stringview-data-usage)
  if (llvm::DebugFlag)
    config.setListener(&log);
  return mlir::applyPatternsGreedily(op, std::move(patterns), config);
}

} // namespace tenon

#endif // TENON_PASSES_APPLYPATTERNS_H
