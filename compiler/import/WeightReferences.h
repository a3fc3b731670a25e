//===- WeightReferences.h - weights of IR that are in files ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_WEIGHTREFERENCES_H
#define TENON_COMPILER_IMPORT_WEIGHTREFERENCES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace tenon {

/// A reference to the bytes of a weight. Readable IR has such a text for each resource:
///
///   {-# dialect_resources: { tenon: {
///     "w1": "576 bytes at 1032 of digits.onnx in ../models/digits, xxh3 0123456789abcdef"
///   } } #-}
struct WeightReference {
  uint64_t size = 0, offset = 0; ///< in bytes
  std::string file;              ///< below `folder`, never outside of it
  std::string folder;            ///< absolute, or relative to that of the IR's own file
  uint64_t hash = 0;             ///< XXH3 of the bytes

  std::string print() const;
  /// Returns none if the text is no reference. A file name that contains " in " is misread.
  static std::optional<WeightReference> parse(llvm::StringRef text);
};

uint64_t hashWeight(llvm::ArrayRef<char> bytes);

/// The prefix of a text instead of a reference, for a weight whose bytes are not available; the parser repeats the
/// reason.
inline constexpr char kNoWeightBytes[] = "absent: ";

/// Makes the parser of IR read weights from the files that references name. A file outside of the reference's folder or
/// behind a symbolic link is rejected, and so are bytes with a different hash. `onFile` is called with the bytes on
/// disk of each opened file.
void registerWeightReferences(mlir::DialectRegistry &registry,
                              std::function<void(llvm::StringRef, uint64_t)> onFile = nullptr);

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_WEIGHTREFERENCES_H
