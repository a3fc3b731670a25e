//===- FormSource.h - equivalent forms of parts of a graph ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A source is a file of its own in this folder, and a line in Registry.cpp. Only `tenon-choose-forms` chooses among
// forms.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FORMS_FORMSOURCE_H
#define TENON_PASSES_FORMS_FORMSOURCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/cost/FormPolicy.h"
#include "passes/cost/Machine.h"
#include <memory>
#include <vector>

namespace tenon {

/// A place of a graph that has several forms.
struct FormSite {
  /// What another form takes the place of, in the order of their block. Two sites that share one exclude each other's
  /// other forms.
  llvm::SmallVector<mlir::Operation *> operations;
  /// Canonical text of all that the costs of the forms follow from, as PathRegion has it for a single operation: sites
  /// of the same text take the same form, and its fingerprint is what users and records call them.
  std::string region;
};

/// One kind of rewrite that is not always for the better.
class FormSource {
public:
  virtual ~FormSource() = default;
  /// The name for people: what the forms differ in.
  virtual llvm::StringRef getName() const = 0;
  /// The names of the forms, all of them of `kFormNames`. The first one is the graph as it stands.
  virtual llvm::ArrayRef<llvm::StringLiteral> getForms() const = 0;
  /// The place of the form that others have to beat by a margin.
  virtual size_t getDefault() const { return 0; }
  /// True if sites are found only where paths are chosen and weights packed. Then the operations of sites have paths
  /// already.
  virtual bool isLate() const { return false; }
  /// The sites of a function, in its order. They do not depend on the machine: a copy of the function has the same.
  virtual std::vector<FormSite> listSites(mlir::func::FuncOp function) const = 0;
  /// Whether a site has a form; the first one it has.
  virtual bool hasForm(const FormSite &, size_t) const { return true; }
  /// Cycles of all cores together that no path of an operation accounts for: launches, conversions, and what neighbours
  /// have to do besides.
  virtual double estimateRest(const FormSite &site, size_t form, const Machine &machine) const = 0;
  /// The largest difference to exact arithmetic that the form adds, relative to the largest element of a result; 0 for
  /// one that is as exact as the graph as it stands.
  virtual double estimateError(const FormSite &, size_t) const { return 0; }
  /// Rewrites a site, to another form than the first one, and returns the operations that took its place. They are
  /// inserted within the site, and depend on what its operations depend on, or on what is computed of constants. What
  /// nothing reads any more may be left.
  virtual llvm::SmallVector<mlir::Operation *> take(const FormSite &site, size_t form,
                                                    mlir::RewriterBase &rewriter) const = 0;
};

/// Returns all sources, with the default policy.
const std::vector<std::unique_ptr<FormSource>> &getFormSources();

/// A site with the source that knows its forms.
struct SourcedSite : FormSite {
  const FormSource *source;
};

/// The sites of all sources that are late, or of all that are not, in the order in which PathSelection counts them.
std::vector<SourcedSite> listFormSites(mlir::func::FuncOp function, bool late);
/// What the sites of a function are counted under.
std::string getFormPlace(mlir::func::FuncOp function, bool late);

/// Products of one value with several constant matrices: each for itself, or one product with all matrices side by
/// side, and slices of its result.
std::unique_ptr<FormSource> createSiblingProducts(const FormPolicy &policy);
/// Products of three factors, of which any two may be multiplied first.
std::unique_ptr<FormSource> createProductOrder(const FormPolicy &policy);
/// Products, a softmax and products: a kernel each, or one for all that keeps no scores in memory.
std::unique_ptr<FormSource> createAttentionForms(const FormPolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_FORMS_FORMSOURCE_H
