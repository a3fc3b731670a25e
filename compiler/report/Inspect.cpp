//===- Inspect.cpp - what is in an artifact --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Inspect.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

int tenon::inspectArtifact(const InspectOptions &options, llvm::raw_ostream &os, llvm::raw_ostream &errors) {
  ArtifactView view;
  rt::Status status = view.open(options.artifact, options.verify, options.choice);
  if (!status.failed() && options.sizes.isAnyGiven())
    status = view.chooseSizes(options.sizes);
  if (status.failed()) {
    errors << "tenon: error: " << options.artifact << ": " << status.message() << '\n';
    return status.code();
  }
  auto print = options.json ? printJson : options.show.isAnyChosen() ? printText : printSummary;
  print(view, options, os);
  return 0;
}
