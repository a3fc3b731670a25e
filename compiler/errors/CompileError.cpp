//===- CompileError.cpp - why a compilation ends --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

char CompileError::ID;

CompileStatus tenon::takeError(llvm::Error error, std::string &message) {
  CompileStatus category = CompileStatus::done;
  message.clear();
  llvm::handleAllErrors(
      std::move(error),
      [&](const CompileError &failure) {
        category = failure.getCategory();
        message = failure.message();
      },
      [&](const llvm::ErrorInfoBase &other) {
        category = CompileStatus::fault;
        message = other.message();
      });
  return category;
}

llvm::Error tenon::prefixError(llvm::Error error, const llvm::Twine &prefix) {
  return llvm::handleErrors(std::move(error), [&](std::unique_ptr<CompileError> failure) -> llvm::Error {
    std::string message = failure->message();
    return message.empty() ? llvm::Error(std::move(failure)) : makeError(failure->getCategory(), prefix + message);
  });
}
