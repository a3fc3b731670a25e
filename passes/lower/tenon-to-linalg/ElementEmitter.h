//===- ElementEmitter.h - one element of a tensor value, as scalar code ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel body is a graph of tenon operations. Whatever has one result element
// for one set of indices (elementwise operations, and those that move elements)
// needs no tensor of its own: asked for an element, the emitter writes the
// scalar code that computes it, back to the tensors in memory. XLA's elemental
// IR emitter works so; here the code is the body of a linalg.generic, and reads
// whose indices are affine become its operands, so that tiling and
// vectorisation see them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_ELEMENTEMITTER_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_ELEMENTEMITTER_H

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include <functional>
#include <map>
#include <memory>

namespace tenon {

class ElementEmitter;

/// Emits the scalar code of an element of a value at the given indices.
using EmitElement =
    std::function<mlir::FailureOr<mlir::Value>(ElementEmitter &emitter, llvm::ArrayRef<mlir::AffineExpr> indices)>;

/// The state of a kernel: its tensors in memory and its symbols.
class KernelScope {
public:
  /// Binds a value of the tenon body to the tensor that holds its elements.
  void bindTensor(mlir::Value value, mlir::Value tensor) { tensors[value] = tensor; }
  mlir::Value lookupTensor(mlir::Value value) const { return tensors.lookup(value); }

  /// Binds a value without a tensor to code that computes its elements where they are read.
  void bindElements(mlir::Value value, EmitElement emit) { elements[value] = std::move(emit); }
  EmitElement lookupElements(mlir::Value value) const { return elements.lookup(value); }

  /// Binds an interned symbol to its index argument.
  void bindSymbol(unsigned id, mlir::Value argument) { symbols[id] = argument; }
  mlir::Value lookupSymbol(unsigned id) const { return symbols.lookup(id); }

  /// Emits the value of an expression over symbols, outside of any body.
  mlir::Value materializeDim(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr dim) const;
  mlir::OpFoldResult getDimOrConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr dim) const;
  /// An uninitialised tensor of these extents.
  mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> dims,
                          mlir::Type elementType) const;

private:
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  llvm::DenseMap<mlir::Value, EmitElement> elements;
  llvm::DenseMap<unsigned, mlir::Value> symbols;
};

/// Returns the type that elements of a tenon tensor have in memory: booleans are bytes, integers are signless, and the
/// types of SmallNumbers.h are bytes.
mlir::Type getStorageType(mlir::Type elementType);
/// Returns the type of elements in scalar code: the same, but booleans are i1.
mlir::Type getScalarType(mlir::Type elementType);
/// Returns the type that sums of such elements are accumulated in: f32 for f16 and bf16, bytes for booleans.
mlir::Type getAccumulatorType(mlir::Type elementType);
mlir::Value toAccumulator(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value scalar, mlir::Type elementType);
mlir::Value fromAccumulator(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value accumulator,
                            mlir::Type elementType);
/// From memory to scalar code and back.
mlir::Value fromStorage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value stored, mlir::Type elementType);
mlir::Value toStorage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value scalar, mlir::Type elementType);
/// Emits a conversion between scalars of two tenon element types, as tenon.cast defines it.
mlir::Value castScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value scalar, mlir::Type from, mlir::Type to,
                       bool saturate = true, Rounding rounding = Rounding::nearest);
/// Emits the scalar result of an elementwise operation from scalar operands; null if the operation has no scalar form.
mlir::Value emitElementwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op,
                            mlir::ValueRange scalars);
/// Emits exp(x) of x <= 0, the weight of a score in a softmax; results below the smallest normal number are flushed to
/// 0. They do not change a sum whose largest term is 1, but arithmetic on denormal numbers is a hundred times slower.
mlir::Value emitSoftmaxWeight(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Joins two scalars as a reduction does.
mlir::Value emitCombine(mlir::OpBuilder &builder, mlir::Location loc, ReduceKind kind, mlir::Type elementType,
                        mlir::Value a, mlir::Value b);
/// Emits a condition that is true if a comes before b in ascending order, where NaN comes last. Both are accumulators.
mlir::Value emitPrecedes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType, mlir::Value a,
                         mlir::Value b);
/// What a reduction starts from.
mlir::TypedAttr getIdentity(mlir::OpBuilder &builder, ReduceKind kind, mlir::Type elementType,
                            mlir::Type accumulatorType);

/// Where an element of a value comes from.
struct ElementSource {
  mlir::Value value;
  llvm::SmallVector<mlir::AffineExpr> indices;
};
/// Returns the source of the element that an operation which only moves elements has at `indices`; none for any other
/// operation.
std::optional<ElementSource> getMovedElement(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices);

/// Builds the body of a linalg.generic or of a loop. Indices are AffineExprs over the loops (dims), the kernel's
/// symbols, and run-time numbers (further symbols, `addRuntimeIndex`).
class ElementEmitter {
public:
  /// `extents` says how far each loop runs.
  ElementEmitter(KernelScope &scope, mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> extents);
  /// Emits code at the builder's insertion point instead, inside loops with induction variables `loops`: there every
  /// read is a tensor.extract, and `finish` must not be called.
  ElementEmitter(KernelScope &scope, mlir::OpBuilder &at, mlir::Location loc, mlir::ValueRange loops);
  ~ElementEmitter();

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::AffineExpr getLoop(unsigned i);
  llvm::SmallVector<mlir::AffineExpr> getLoops();

  /// Binds an element of `value` to a scalar, for all reads of it.
  void bindElement(mlir::Value value, mlir::Value scalar) { bound[value] = scalar; }
  /// Emits the element of `value` at `indices`, in its scalar type. Fails, with a diagnostic, on an operation that has
  /// no element form.
  mlir::FailureOr<mlir::Value> emit(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices);

  /// Emits an element of a tensor in memory, in its storage type. `dims` are those of the tensor.
  mlir::Value readTensor(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> dims,
                         llvm::ArrayRef<mlir::AffineExpr> indices);
  /// An index as a value of type index.
  mlir::Value materialize(mlir::AffineExpr index);
  /// An i1: whether 0 <= index < size.
  mlir::Value emitInBounds(mlir::AffineExpr index, mlir::AffineExpr size);
  /// Emits an element of an index tensor as an index into `size` elements; a negative index counts from the end.
  mlir::FailureOr<mlir::AffineExpr> emitGatherIndex(mlir::Value indices, llvm::ArrayRef<mlir::AffineExpr> at,
                                                    mlir::AffineExpr size);
  /// Returns a symbol for a number that is known only at run time.
  mlir::AffineExpr addRuntimeIndex(mlir::Value value);
  /// Emits the result of `emitThen` or `emitElse`; only the selected branch is evaluated.
  mlir::FailureOr<mlir::Value> emitIf(mlir::Value condition, mlir::Type type,
                                      llvm::function_ref<mlir::FailureOr<mlir::Value>()> emitThen,
                                      llvm::function_ref<mlir::FailureOr<mlir::Value>()> emitElse);

  /// Emits a loop, and returns the values that it carries when `emitCondition` becomes false; `emitBody` computes the
  /// next values from the current ones.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitWhile(mlir::ValueRange start, llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::ValueRange)> emitCondition,
            llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(mlir::ValueRange)> emitBody);

  /// Adds the destination operands, whose old elements are block arguments of the body.
  llvm::SmallVector<mlir::Value> addOutputs(mlir::ValueRange tensors, llvm::ArrayRef<mlir::AffineMap> maps);
  /// Ends the body with the new elements, and creates the operation. If an output's tensor is also read at the element
  /// that is written, the read uses the output's block argument, so that the operation works in place.
  mlir::linalg::GenericOp finish(mlir::OpBuilder &outer, mlir::ValueRange results,
                                 llvm::ArrayRef<mlir::utils::IteratorType> iterators);

private:
  using Key = std::pair<mlir::Value, llvm::SmallVector<mlir::AffineExpr, 4>>;

  mlir::FailureOr<mlir::Value> emitOp(mlir::Operation *op, mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices);
  /// Emits the element at `indices` for each kind of operation that has a specific element form.
  mlir::FailureOr<mlir::Value> emitElement(CheckRangeOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(ConcatOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(DequantizeOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(GatherElementsOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(GatherNDOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(GatherOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(IotaOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(MergeTermsOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(PadOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(RandomBitsOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(RoiAlignOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(SearchSortedOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(SizesOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(SplitTermsOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(TreeEnsembleOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(UnpackOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(UnpackTermsOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<mlir::Value> emitElement(WeightOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  /// Returns the position of an unpacked tensor's element in its panels; if numbers share words, the position of the
  /// word.
  llvm::SmallVector<mlir::AffineExpr> getPackedIndices(UnpackOp op, llvm::ArrayRef<mlir::AffineExpr> indices,
                                                       mlir::AffineExpr word = {});
  /// A number of four bits, as one of 32.
  mlir::FailureOr<mlir::Value> emitFromPackedI32(UnpackOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  /// A number of some upper bits, as one of 32.
  mlir::FailureOr<mlir::Value> emitFixedNumber(UnpackOp op, llvm::ArrayRef<mlir::AffineExpr> indices);
  /// Emits the sum of the terms at `indices`, whose dimension `dim` has the number of the term.
  mlir::FailureOr<mlir::Value> emitSumOfTerms(mlir::Value terms, llvm::SmallVector<mlir::AffineExpr> indices,
                                              size_t dim);
  void addHiddenLoops(mlir::OpBuilder &outer);
  bool isOperandMap(llvm::ArrayRef<mlir::AffineExpr> dims, llvm::ArrayRef<mlir::AffineExpr> indices) const;

  KernelScope &scope;
  mlir::Location loc;
  mlir::OpBuilder builder;
  std::unique_ptr<mlir::Region> region;
  mlir::Block *body;
  unsigned numLoops;
  unsigned conditionDepth = 0;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  llvm::SmallVector<mlir::AffineMap> inputMaps, outputMaps;
  Dims extents;
  llvm::SmallVector<mlir::Value> runtimeIndices;
  mlir::SmallVector<mlir::AffineExpr>
      panelIndices; ///< of a loop: its panel, its place in that, its quad, word, block or step
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> materialized;
  llvm::DenseMap<mlir::Value, mlir::Value> bound;
  std::map<Key, mlir::Value, bool (*)(const Key &, const Key &)> emitted;
};

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_ELEMENTEMITTER_H
