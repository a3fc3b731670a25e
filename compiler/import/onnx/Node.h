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
/// A handler reads inputs and attributes, makes operations with what it inherits from GraphBuilder, and sets
/// the outputs. Attribute and operand readers report a fault and give a default where the model is wrong;
/// the first fault is what counts. So a handler need not check anything but what it indexes with.
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

  /// The number of inputs, those left out at the end not counted.
  size_t getNumInputs() const { return inputs.size(); }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i]; }
  /// The value of an input; a fault where it was left out.
  Value input(size_t i);
  /// The value of an input, or null where it was left out.
  Value optionalInput(size_t i) { return hasInput(i) ? input(i) : Value(); }
  /// All inputs that are there.
  llvm::SmallVector<Value> allInputs();
  /// The type of an input, for which no operation needs to be made.
  mlir::RankedTensorType inputType(size_t i);
  llvm::StringRef inputName(size_t i) const;
  /// What is known of an input's elements; null where nothing is.
  const ShapeValue *known(size_t i);

  /// The elements of an operand of sizes: elements that are not known become symbols that data binds. `what`
  /// names the operand in a message, "shape"; none of them may be above `most` where that is not null.
  std::optional<Dims> sizesOperand(size_t i, llvm::StringRef what, AffineExpr most = {});
  /// Operands that must be known when compiling.
  std::optional<Ints> intsOperand(size_t i, llvm::StringRef what);
  std::optional<llvm::SmallVector<double>> floatsOperand(size_t i, llvm::StringRef what);
  std::optional<int64_t> intOperand(size_t i, llvm::StringRef what);
  /// Whether an operand's elements are known integers, none of which data decides.
  bool isKnownOperand(size_t i);
  /// The same, and all of them are constants.
  bool isConstantOperand(size_t i);
  /// An operand of integers as an i64 vector.
  Value vectorOperand(size_t i);
  /// Symbols for the elements of an i64 vector, which get their values when the model runs: none below `min`, and
  /// none above its bound where there are `bounds`, by which memory can be laid out before.
  Dims bindSizes(Value vector, int64_t min = 0, llvm::ArrayRef<AffineExpr> bounds = {});

  //===--- Attributes
  //-------------------------------------------------------------------------------------===//

  bool hasAttr(llvm::StringRef name) const { return findAttr(name) != nullptr; }
  int64_t getInt(llvm::StringRef name, int64_t fallback);
  /// An int in [min, max]; a fault, and `fallback`, where the model has another one.
  int64_t getIntIn(llvm::StringRef name, int64_t fallback, int64_t min, int64_t max);
  /// An int that is 0 or 1.
  bool getBool(llvm::StringRef name, bool fallback);
  double getFloat(llvm::StringRef name, double fallback);
  std::string getString(llvm::StringRef name, llvm::StringRef fallback);
  std::optional<Ints> getInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> getFloats(llvm::StringRef name);
  std::optional<llvm::SmallVector<std::string>> getStrings(llvm::StringRef name);
  /// A tensor attribute; null where it was left out or is at fault.
  mlir::ElementsAttr getTensor(llvm::StringRef name);
  /// A tensor attribute of strings; nothing where it is none.
  std::optional<StringTensor> getStringTensor(llvm::StringRef name);
  const onnx::GraphProto *getGraph(llvm::StringRef name);
  /// A type attribute; null where it was left out.
  const onnx::TypeProto *getType(llvm::StringRef name);
  /// An ONNX data type number as an element type; a fault where we lack it.
  Type getDataType(llvm::StringRef name, Type fallback);
  Type toElementType(int64_t dataType);

  /// An axis in [-rank, rank) as one in [0, rank).
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// The same for a list, which must be without repetition.
  std::optional<Ints> normalizeAxesInOrder(IntsRef axes, int64_t rank);
  /// The same, sorted.
  std::optional<Ints> normalizeAxes(IntsRef axes, int64_t rank);
  /// Axes as they are given before and after a certain version: by an attribute, or by an input.
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
  /// Sets the first output to a constant, which becomes an operation where it is used as a tensor.
  mlir::LogicalResult setConstant(mlir::ElementsAttr value);
  mlir::LogicalResult setConstant(IntsRef values, IntsRef shape);
  /// Imports the body that the operator's schema has, for handlers that only check operands before it.
  mlir::LogicalResult importBody();
  llvm::ArrayRef<Value> getOutputs() const { return outputs; }
  mlir::ElementsAttr getConstantOutput() const { return constant; }

  //===--- Faults
  //-----------------------------------------------------------------------------------------===//

  mlir::LogicalResult invalid(const llvm::Twine &text) { return fault(ImportFault::invalidModel, text); }
  mlir::LogicalResult malformed(const llvm::Twine &text) { return fault(ImportFault::malformed, text); }
  mlir::LogicalResult unsupported(const llvm::Twine &text) { return fault(ImportFault::unsupported, text); }
  /// `text` says what exceeds the import limit of that name.
  mlir::LogicalResult exceedsLimit(llvm::StringRef name, int64_t limit, const llvm::Twine &text) {
    return fault(ImportFault::limit, text + ", more than the import limit '" + name + "' of " + llvm::Twine(limit));
  }
  mlir::LogicalResult fault(ImportFault kind, const llvm::Twine &text);
  /// The same, where the error's category says the kind.
  mlir::LogicalResult fault(llvm::Error error);
  bool hasFault() const { return faulty; }
  /// What had failed so far does not count.
  void forgetFaults() { failed = faulty = false; }
  /// The value behind an input, which may be no tensor; null where it was left out.
  ImportedValue *imported(size_t i) { return hasInput(i) ? inputs[i] : nullptr; }

  /// Records that `expr` must not be negative when sizes are bound, or where data decides that, when this
  /// runs; a fault where it is a negative constant.
  void require(AffineExpr expr, const llvm::Twine &otherwise);
  /// The same of two expressions that have to be equal.
  void requireEqual(AffineExpr a, AffineExpr b, const llvm::Twine &otherwise);
  /// Sets the first output to the result of an operation that uses indices. Where it is sure to run, a fault of
  /// constant indices that are out of range, and of a dimension that is known to be empty.
  mlir::LogicalResult setIndexed(Value result);

  /// Refuses sizes for which the indicator of an expression would not be right.
  void requireIndicatorRange(AffineExpr expr);
  /// The larger, or the smaller, of an expression and a bound. Where only dimensions of 0 elements are beyond the
  /// bound, and no option says that there are such, they are refused with `otherwise`: the last row of N is one row,
  /// not min(N, 1).
  AffineExpr atLeast(AffineExpr expr, AffineExpr bound, const llvm::Twine &otherwise);
  AffineExpr atMost(AffineExpr expr, AffineExpr bound, const llvm::Twine &otherwise);

  //===--- Broadcasting
  //-------------------------------------------------------------------------------------===//

  void alignExtents(llvm::MutableArrayRef<Value> operands, int64_t numTrailing) override;
  void noteEqual(AffineExpr a, AffineExpr b) override;
  /// The tensor in the shape that it and `shape` broadcast to.
  Value stretchTo(Value x, llvm::ArrayRef<AffineExpr> shape);

  Importer &importer;
  Scope &scope;

private:
  /// Repeats the only element of a dimension, or keeps the dimension where it has the extent already.
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
