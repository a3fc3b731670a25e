//===- Registry.cpp - all sources of forms --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/forms/FormSource.h"

using namespace tenon;

const std::vector<std::unique_ptr<FormSource>> &tenon::getFormSources() {
  static const auto sources = [] {
    const FormPolicy policy;
    std::vector<std::unique_ptr<FormSource>> all;
    all.push_back(createSiblingProducts(policy));
    all.push_back(createProductOrder(policy));
    all.push_back(createSplitReductions(policy));
    all.push_back(createLayoutForms(policy));
    all.push_back(createAttentionForms(policy));
    all.push_back(createChainForms());
    all.push_back(createProducerForms());
    all.push_back(createSharedResultForms());
    return all;
  }();
  return sources;
}

std::vector<SourcedSite> tenon::listFormSites(mlir::func::FuncOp function, bool late) {
  std::vector<SourcedSite> sites;
  for (const auto &source : getFormSources())
    if (source->isLate() == late)
      for (FormSite &site : source->listSites(function))
        sites.push_back({std::move(site), source.get()});
  return sites;
}

std::string tenon::getFormPlace(mlir::func::FuncOp function, bool late) {
  return function.getName().str() + (late ? " late" : "");
}
