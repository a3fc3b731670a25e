//===- Json.h - JSON that nobody vouches for ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_JSON_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_JSON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <nlohmann/json.hpp>

namespace tenon::huggingface {

using Json = nlohmann::json;

/// Parses a JSON text. Fails if it is invalid, has a duplicate key, or nests too deeply: readers disagree about such
/// texts, or they are crafted to consume memory. The message is to be printed after the file's name.
llvm::Expected<Json> parseJson(llvm::ArrayRef<char> text);
/// The same, and fails where it is no object.
llvm::Expected<Json> parseJsonObject(llvm::ArrayRef<char> text);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_JSON_H
