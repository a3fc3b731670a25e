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

/// Returns a reference to the bytes of a weight in the parser's form (compiler/import/WeightReferences.h), or the bytes
/// themselves, `0x` followed by MLIR's encoding.
using WeightLocator = std::function<std::string(llvm::ArrayRef<char> bytes)>;

/// Prints modules so that the text can be parsed again, and so that two texts can be compared line by line. Every
/// weight of more than a few elements is `dense_resource<name>`, and a section at the end refers to its bytes.
/// Operations on tensors have the names of nodes as locations. No other thread may use the IR.
class ReadableIR {
public:
  /// Without `locate` the section is omitted, and a text with weights cannot be parsed.
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
  /// Operations whose value is replaced by a resource while they are printed.
  std::vector<std::pair<mlir::Operation *, mlir::Attribute>> swapped;
  llvm::MapVector<llvm::StringRef, mlir::DenseResourceElementsAttr> referenced; ///< of the text that is printed
};

/// Returns `text` with only those locations of operations that name a node: without unknown ones, positions in files,
/// and locations of block arguments.
std::string keepNodeLocations(llvm::StringRef text);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_READABLEIR_H
