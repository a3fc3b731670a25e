//===- ReadableIR.h - IR as text that people and parsers read --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_READABLEIR_H
#define TENON_COMPILER_PIPELINE_READABLEIR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>
#include <string>

namespace tenon {

/// Says where the bytes of a weight can be read again, in the form that the parser reads
/// (compiler/import/WeightReferences.h), or says what they are, `0x` and what MLIR has after it.
using WeightLocator = std::function<std::string(llvm::ArrayRef<char> bytes)>;

/// Prints modules so that the text can be parsed again and lines of two texts can be compared. Every weight of more
/// than a few elements is `dense_resource<name>`, and a section at the end says where its bytes are. Operations on
/// tensors have the names of nodes as locations. The IR may not be in use by another thread.
class ReadableIR {
public:
  /// Without `locate` the section is left out, and the text cannot be parsed where there are weights.
  explicit ReadableIR(WeightLocator locate = nullptr) : locate(std::move(locate)) {}

  void print(llvm::ArrayRef<mlir::ModuleOp> modules, llvm::raw_ostream &os);

private:
  mlir::DenseResourceElementsAttr toResource(mlir::DenseElementsAttr value, mlir::StringAttr name);
  void swapWeights(mlir::ModuleOp module);
  void restoreWeights();
  void printPlaces(llvm::raw_ostream &os);
  void printPlaces(llvm::StringRef dialect, bool isOfBytes, llvm::ListSeparator &sections, llvm::raw_ostream &os);

  WeightLocator locate;
  /// Each value has the same name in all texts.
  llvm::DenseMap<mlir::Attribute, mlir::DenseResourceElementsAttr> resources;
  llvm::StringMap<std::string> places;
  /// Operations that have a resource instead of their value for as long as they are printed.
  std::vector<std::pair<mlir::Operation *, mlir::Attribute>> swapped;
  llvm::MapVector<llvm::StringRef, mlir::DenseResourceElementsAttr> referenced; ///< of the text that is printed
};

/// `text` without locations but those of operations that name a node: without unknown ones, places in files, and those
/// of the arguments of blocks.
std::string keepNodeLocations(llvm::StringRef text);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_READABLEIR_H
