//===- Node.h - an ONNX node as the handler of its operator sees it -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_NODE_H
#define TENON_COMPILER_IMPORT_ONNX_NODE_H

#include "compiler/graph/GraphBuilder.h"
#include "compiler/import/onnx/ImportOnnx.h"
#include "compiler/import/onnx/ShapeValue.h"
#include "compiler/import/onnx/Tensors.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
class TypeProto;
} // namespace onnx

namespace tenon::onnx_import {

class Importer;
struct ImportedValue;
struct Scope;

/// A node that is being imported: its inputs, its attributes, the operations made for it and its outputs.
///
/// A handler reads inputs and attributes, creates operations with the functions of GraphBuilder, and sets the outputs.
/// Getters of attributes and operands report a fault and return a default if the model is invalid; only the first fault
/// counts. So a handler need only check its indices.
class Node : public GraphBuilder {
public:
  Node(Importer &importer, Scope &scope, const onnx::NodeProto &proto, int64_t opset, mlir::OpBuilder &builder,
       mlir::Location loc);

  llvm::StringRef getOpType() const;
  llvm::StringRef getDomain() const;
  /// The version of the operator's domain that the model imports.
  int64_t getOpset() const { return opset; }
  const onnx::NodeProto &getProto() const { return proto; }
  /// "node 'conv1' (Conv)", for messages.
  std::string describe() const;

  //===--- Inputs
  //-----------------------------------------------------------------------------------------===//

  /// The number of inputs, without omitted ones at the end.
  size_t getNumInputs() const { return inputs.size(); }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i]; }
  /// Returns an input; reports a fault if it was omitted.
  Value input(size_t i);
  /// Returns an input, or null if it was omitted.
  Value optionalInput(size_t i) { return hasInput(i) ? input(i) : Value(); }
  /// All inputs that are there.
  llvm::SmallVector<Value> allInputs();
  /// Returns the type of an input without creating an operation.
  mlir::RankedTensorType inputType(size_t i);
  llvm::StringRef inputName(size_t i) const;
  /// Returns the known elements of an input; null if nothing is known.
  const ShapeValue *known(size_t i);

  /// Returns the elements of a shape operand; unknown elements become data-dependent symbols. `what` names the operand
  /// in messages, such as "shape"; none of them may exceed `most` if it is not null.
  std::optional<Dims> sizesOperand(size_t i, llvm::StringRef what, AffineExpr most = {});
  /// Operands that must be known when compiling.
  std::optional<Ints> intsOperand(size_t i, llvm::StringRef what);
  std::optional<llvm::SmallVector<double>> floatsOperand(size_t i, llvm::StringRef what);
  std::optional<int64_t> intOperand(size_t i, llvm::StringRef what);
  /// True if an operand's elements are known integers without data-dependent symbols.
  bool isKnownOperand(size_t i);
  /// The same, and all of them are constants.
  bool isConstantOperand(size_t i);
  /// An operand of integers as an i64 vector.
  Value vectorOperand(size_t i);
  /// Returns symbols for the elements of an i64 vector, which are bound at run time: they must be at least `min`, and
  /// at most their bounds if there are `bounds`, by which memory can be laid out in advance.
  Dims bindSizes(Value vector, int64_t min = 0, llvm::ArrayRef<AffineExpr> bounds = {});

  //===--- Attributes
  //-------------------------------------------------------------------------------------===//

  bool hasAttr(llvm::StringRef name) const { return findAttr(name) != nullptr; }
  int64_t getInt(llvm::StringRef name, int64_t fallback);
  /// Returns an int in [min, max]; reports a fault and returns `fallback` if the model has another one.
  int64_t getIntIn(llvm::StringRef name, int64_t fallback, int64_t min, int64_t max);
  /// An int that is 0 or 1.
  bool getBool(llvm::StringRef name, bool fallback);
  double getFloat(llvm::StringRef name, double fallback);
  std::string getString(llvm::StringRef name, llvm::StringRef fallback);
  std::optional<Ints> getInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> getFloats(llvm::StringRef name);
  std::optional<llvm::SmallVector<std::string>> getStrings(llvm::StringRef name);
  /// Returns a tensor attribute; null if it was omitted or is invalid.
  mlir::ElementsAttr getTensor(llvm::StringRef name);
  /// Returns a tensor attribute of strings; none if it is not one.
  std::optional<StringTensor> getStringTensor(llvm::StringRef name);
  const onnx::GraphProto *getGraph(llvm::StringRef name);
  /// A type attribute; null where it was left out.
  const onnx::TypeProto *getType(llvm::StringRef name);
  /// Returns the element type of an ONNX data type number; reports a fault if it is not supported.
  Type getDataType(llvm::StringRef name, Type fallback);
  Type toElementType(int64_t dataType);

  /// An axis in [-rank, rank) as one in [0, rank).
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// The same for a list, which must have no duplicates.
  std::optional<Ints> normalizeAxesInOrder(IntsRef axes, int64_t rank);
  /// The same, sorted.
  std::optional<Ints> normalizeAxes(IntsRef axes, int64_t rank);
  /// Returns axes that are an attribute before, and an input after a certain version.
  std::optional<Ints> getAxes(llvm::StringRef attr, size_t inputIndex, int64_t rank);
  bool hasAxes(llvm::StringRef attr, size_t inputIndex) const { return hasAttr(attr) || hasInput(inputIndex); }

  //===--- Outputs
  //----------------------------------------------------------------------------------------===//

  size_t getNumOutputs() const;
  /// Whether something has been named for this output.
  bool wantsOutput(size_t i) const;
  mlir::LogicalResult setOutput(size_t i, Value value);
  /// Sets the first output.
  mlir::LogicalResult setResult(Value value) { return setOutput(0, value); }
  /// Sets an output to a value that may be no tensor.
  void setImported(size_t i, ImportedValue value);
  /// Sets the first output to a constant, whose operation is created when it is used as a tensor.
  mlir::LogicalResult setConstant(mlir::ElementsAttr value);
  mlir::LogicalResult setConstant(IntsRef values, IntsRef shape);
  /// Imports the body of the operator's schema, for handlers that only check operands.
  mlir::LogicalResult importBody();
  llvm::ArrayRef<Value> getOutputs() const { return outputs; }
  mlir::ElementsAttr getConstantOutput() const { return constant; }

  //===--- Faults
  //-----------------------------------------------------------------------------------------===//

  mlir::LogicalResult invalid(const llvm::Twine &text) { return fault(ImportFault::invalidModel, text); }
  mlir::LogicalResult malformed(const llvm::Twine &text) { return fault(ImportFault::malformed, text); }
  mlir::LogicalResult unsupported(const llvm::Twine &text) { return fault(ImportFault::unsupported, text); }
  /// Reports that `text` exceeds the import limit of that name.
  mlir::LogicalResult exceedsLimit(llvm::StringRef name, int64_t limit, const llvm::Twine &text) {
    return fault(ImportFault::limit, text + ", more than the import limit '" + name + "' of " + llvm::Twine(limit));
  }
  mlir::LogicalResult fault(ImportFault kind, const llvm::Twine &text);
  /// The same, with the kind of the error's category.
  mlir::LogicalResult fault(llvm::Error error);
  bool hasFault() const { return faulty; }
  /// What had failed so far does not count.
  void forgetFaults() { failed = faulty = false; }
  /// Returns the value of an input, which need not be a tensor; null if it was omitted.
  ImportedValue *imported(size_t i) { return hasInput(i) ? inputs[i] : nullptr; }

  /// Requires that `expr` is not negative; this is checked when sizes are bound or, if it is data-dependent, at run
  /// time. Reports a fault if it is a negative constant.
  void require(AffineExpr expr, const llvm::Twine &otherwise);
  /// Requires that two expressions are equal.
  void requireEqual(AffineExpr a, AffineExpr b, const llvm::Twine &otherwise);
  /// Sets the first output to the result of an operation that uses indices. If the operation certainly runs, reports a
  /// fault for constant indices that are out of range, and for a dimension that is known to be empty.
  mlir::LogicalResult setIndexed(Value result);

  /// Rejects sizes for which the indicator of an expression would be wrong.
  void requireIndicatorRange(AffineExpr expr);
  /// Returns the maximum or minimum of an expression and a bound. If only dimensions of 0 elements are beyond the
  /// bound, and no option allows them, they are rejected with `otherwise`: the last row of N is one row, not min(N, 1).
  AffineExpr atLeast(AffineExpr expr, AffineExpr bound, const llvm::Twine &otherwise);
  AffineExpr atMost(AffineExpr expr, AffineExpr bound, const llvm::Twine &otherwise);

  //===--- Broadcasting
  //-------------------------------------------------------------------------------------===//

  void alignExtents(llvm::MutableArrayRef<Value> operands, int64_t numTrailing) override;
  void noteEqual(AffineExpr a, AffineExpr b) override;
  /// Broadcasts the tensor with `shape`.
  Value stretchTo(Value x, llvm::ArrayRef<AffineExpr> shape);

  Importer &importer;
  Scope &scope;

private:
  /// Broadcasts a dimension of extent 1, or keeps the dimension if it has the extent already.
  Value stretch(Value x, int64_t axis, AffineExpr extent);
  const onnx::AttributeProto *findAttr(llvm::StringRef name) const;
  const onnx::AttributeProto *findAttr(llvm::StringRef name, int type, llvm::StringRef typeName);

  const onnx::NodeProto &proto;
  int64_t opset;
  llvm::SmallVector<ImportedValue *> inputs;
  llvm::SmallVector<Value> outputs;
  mlir::ElementsAttr constant;
  bool faulty = false;
};

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_NODE_H
