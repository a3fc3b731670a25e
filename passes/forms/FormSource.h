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
  /// The operations that another form replaces, in the order of their block. Two sites that share an operation exclude
  /// each other's non-default forms, if one of them replaces operations.
  llvm::SmallVector<mlir::Operation *> operations;
  /// A canonical text of everything that the costs of the forms depend on, like that of PathRegion for a single
  /// operation. Sites of equal text take the same form; users and records name them by its fingerprint.
  std::string region;
  /// Further operations that the source needs to estimate costs, and that no form changes. A copy of a site has none.
  llvm::SmallVector<mlir::Operation *> neighbours = {};
};

/// One kind of rewrite that pays off only in some cases.
class FormSource {
public:
  virtual ~FormSource() = default;
  /// The name for people: what the forms differ in.
  virtual llvm::StringRef getName() const = 0;
  /// Returns the names of the forms, all of them in `kFormNames`. The first one is the unchanged graph.
  virtual llvm::ArrayRef<llvm::StringLiteral> getForms() const = 0;
  /// The number of the form that others have to beat by a margin.
  virtual size_t getDefault() const { return 0; }
  /// True if sites are matched only after paths are chosen and weights are packed, when the operations of sites have
  /// paths.
  virtual bool isLate() const { return false; }
  /// False if forms only put marks on the first operation of a site, of which there is no other mark: what the
  /// operations cost is counted with their paths, and such sites do not exclude each other.
  virtual bool replacesOperations() const { return true; }
  /// Lists the sites of a function in order. They do not depend on the machine, so a copy of the function has the same
  /// sites.
  virtual std::vector<FormSite> listSites(mlir::func::FuncOp function) const = 0;
  /// Whether a site has a form on a machine; the first one and the default one it has on any.
  virtual bool hasForm(const FormSite &, size_t, const Machine &) const { return true; }
  /// Returns the cycles, over all cores, that are not part of any operation's path: launches, conversions, and extra
  /// work in neighbouring operations.
  virtual double estimateRest(const FormSite &site, size_t form, const Machine &machine) const = 0;
  /// Returns the errors that the form adds, one for each operation that it makes less exact, relative to the largest
  /// element of a result. Empty if the form is as exact as sums in its type. The default form may have errors, too, if
  /// others are more exact: it counts only where these are within the budget, or where nothing else is allowed.
  virtual llvm::SmallVector<double> estimateErrors(const FormSite &, size_t) const { return {}; }
  /// Rewrites a site to a form other than the first one, and returns the new operations. They are inserted within the
  /// site, and depend on its operands or on constants. Dead operations may be left.
  virtual llvm::SmallVector<mlir::Operation *> take(const FormSite &site, size_t form,
                                                    mlir::RewriterBase &rewriter) const = 0;
};

/// Returns all sources, with the default policy.
const std::vector<std::unique_ptr<FormSource>> &getFormSources();

/// A site with the source that knows its forms.
struct SourcedSite : FormSite {
  const FormSource *source;
};

/// Lists the sites of all sources that are late, or of all that are not, in the order in which PathSelection counts
/// them.
std::vector<SourcedSite> listFormSites(mlir::func::FuncOp function, bool late);
/// What the sites of a function are counted under.
std::string getFormPlace(mlir::func::FuncOp function, bool late);

/// Matmuls of one value with several constant matrices: separate, or one matmul with the concatenated matrix whose
/// result is sliced.
std::unique_ptr<FormSource> createSiblingProducts(const FormPolicy &policy);
/// Matmuls of three factors, which may be multiplied in either order.
std::unique_ptr<FormSource> createProductOrder(const FormPolicy &policy);
/// Matmuls with small results and long sums: the whole sums, or parts of them that a second kernel adds.
std::unique_ptr<FormSource> createSplitReductions(const FormPolicy &policy);
/// Convolutions of few filters: channels last, or first.
std::unique_ptr<FormSource> createLayoutForms(const FormPolicy &policy);
/// Attention: separate kernels for the matmuls and the softmax, or one kernel that keeps no scores in memory.
std::unique_ptr<FormSource> createAttentionForms(const FormPolicy &policy);

/// Two loop nests, of which the second alone reads the first: a kernel for each, or one that computes both tile by
/// tile.
std::unique_ptr<FormSource> createChainForms();
/// A producer and a consumer that the rules of fusion put in one kernel: fused, or with the producer's result in
/// memory.
std::unique_ptr<FormSource> createProducerForms();
/// A result that several kernels read: stored once, or recomputed in each of them.
std::unique_ptr<FormSource> createSharedResultForms();

} // namespace tenon

#endif // TENON_PASSES_FORMS_FORMSOURCE_H
