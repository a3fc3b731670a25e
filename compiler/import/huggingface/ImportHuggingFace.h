//===- ImportHuggingFace.h - a Hugging Face folder in, the tenon dialect out ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_IMPORTHUGGINGFACE_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_IMPORTHUGGINGFACE_H

#include "compiler/import/ImportModel.h"

namespace tenon {

/// Imports the model that config.json describes, with the weights of model.safetensors, or of the shards that
/// model.safetensors.index.json names. Nothing outside of the folder is read. The module is like that of
/// importOnnxFile; its dynamic dimensions are `batch` and `length`.
///
/// `sourceHash` becomes a hash of all files that were read. If the import fails, all errors are emitted on the context,
/// one line each. Never throws.
ImportedModel importHuggingFace(llvm::StringRef folder, const ImportOptions &options, uint64_t &sourceHash,
                                mlir::MLIRContext *context);

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_IMPORTHUGGINGFACE_H
