//===- ElementEmitter.cpp - one element of a tensor value, as scalar code --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/ElementEmitter.h"
#include "dialects/tenon/EmitDim.h"
#include "dialects/tenon/FixedNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/paths/split/Int8Terms.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

/// Symbols from this number on are run-time indices; lower ones are interned names.
static constexpr unsigned kFirstRuntimeIndex = 1u << 24; // limit: of static dimensions

Value KernelScope::materializeDim(OpBuilder &b, Location loc, AffineExpr dim) const {
  return emitDim(b, loc, dim, b.getIndexType(), Dividends::ofExtent, [&](AffineExpr leaf) {
    Value argument = lookupSymbol(cast<AffineSymbolExpr>(leaf).getPosition());
    assert(argument && "a kernel has an argument for each symbol that its types name");
    return argument;
  });
}

OpFoldResult KernelScope::getDimOrConstant(OpBuilder &b, Location loc, AffineExpr dim) const {
  if (std::optional<int64_t> constant = getConstant(dim))
    return b.getIndexAttr(*constant);
  return materializeDim(b, loc, dim);
}

Value KernelScope::createEmpty(OpBuilder &b, Location loc, ArrayRef<AffineExpr> dims, Type elementType) const {
  SmallVector<OpFoldResult> sizes;
  for (AffineExpr dim : dims)
    sizes.push_back(getDimOrConstant(b, loc, dim));
  return tensor::EmptyOp::create(b, loc, sizes, elementType);
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

template <typename KeyT> static bool keyBefore(const KeyT &a, const KeyT &b) {
  if (a.first != b.first)
    return a.first.getAsOpaquePointer() < b.first.getAsOpaquePointer();
  return std::lexicographical_compare(
      a.second.begin(), a.second.end(), b.second.begin(), b.second.end(),
      [](AffineExpr x, AffineExpr y) { return x.getAsOpaquePointer() < y.getAsOpaquePointer(); });
}

ElementEmitter::ElementEmitter(KernelScope &scope, Location loc, ArrayRef<AffineExpr> extents)
    : scope(scope), loc(loc), builder(loc.getContext()), region(std::make_unique<Region>()),
      body(&region->emplaceBlock()), numLoops(extents.size()), extents(extents), emitted(&keyBefore<Key>) {
  builder.setInsertionPointToEnd(body);
}

ElementEmitter::ElementEmitter(KernelScope &scope, OpBuilder &at, Location loc, ValueRange loops)
    : scope(scope), loc(loc), builder(at), body(at.getInsertionBlock()), numLoops(loops.size()), conditionDepth(1),
      emitted(&keyBefore<Key>) {
  for (auto [i, loop] : llvm::enumerate(loops))
    materialized[getLoop(i)] = loop;
}

ElementEmitter::~ElementEmitter() = default;

AffineExpr ElementEmitter::getLoop(unsigned i) { return getAffineDimExpr(i, loc.getContext()); }

SmallVector<AffineExpr> ElementEmitter::getLoops() {
  SmallVector<AffineExpr> loops;
  for (unsigned i = 0; i < numLoops; ++i)
    loops.push_back(getLoop(i));
  return loops;
}

AffineExpr ElementEmitter::addRuntimeIndex(Value value) {
  runtimeIndices.push_back(value);
  return getAffineSymbolExpr(kFirstRuntimeIndex + runtimeIndices.size() - 1, loc.getContext());
}

Value ElementEmitter::materialize(AffineExpr index) {
  if (Value known = materialized.lookup(index))
    return known;
  Value value =
      emitDim(builder, loc, index, builder.getIndexType(), Dividends::notNegative, [&](AffineExpr leaf) -> Value {
        if (auto dim = dyn_cast<AffineDimExpr>(leaf)) {
          Value &loop = materialized[leaf];
          if (!loop) {
            OpBuilder::InsertionGuard guard(builder);
            builder.setInsertionPointToStart(body);
            loop = linalg::IndexOp::create(builder, loc, dim.getPosition());
          }
          return loop;
        }
        unsigned symbol = cast<AffineSymbolExpr>(leaf).getPosition();
        return symbol >= kFirstRuntimeIndex ? runtimeIndices[symbol - kFirstRuntimeIndex] : scope.lookupSymbol(symbol);
      });
  materialized[index] = value;
  return value;
}

Value ElementEmitter::emitInBounds(AffineExpr index, AffineExpr size) {
  // One unsigned comparison covers both ends.
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, materialize(index), materialize(size));
}

FailureOr<Value> ElementEmitter::emitIf(Value condition, Type type, llvm::function_ref<FailureOr<Value>()> emitThen,
                                        llvm::function_ref<FailureOr<Value>()> emitElse) {
  auto branch = scf::IfOp::create(builder, loc, type, condition, /*withElseRegion=*/true);
  ++conditionDepth;
  for (auto [block, emitBranch] : {std::pair(branch.thenBlock(), emitThen), std::pair(branch.elseBlock(), emitElse)}) {
    OpBuilder::InsertionGuard guard(builder);
    // What is computed inside is not visible outside.
    auto savedEmitted = emitted;
    auto savedMaterialized = materialized;
    builder.setInsertionPointToEnd(block);
    FailureOr<Value> value = emitBranch();
    if (failed(value))
      return failure();
    scf::YieldOp::create(builder, loc, *value);
    emitted = std::move(savedEmitted);
    materialized = std::move(savedMaterialized);
  }
  --conditionDepth;
  return branch.getResult(0);
}

FailureOr<SmallVector<Value>>
ElementEmitter::emitWhile(ValueRange start, llvm::function_ref<FailureOr<Value>(ValueRange)> emitCondition,
                          llvm::function_ref<FailureOr<SmallVector<Value>>(ValueRange)> emitBody) {
  auto loop = scf::WhileOp::create(builder, loc, start.getTypes(), start);
  SmallVector<Location> locs(start.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, start.getTypes(), locs);
  Block *after = builder.createBlock(&loop.getAfter(), {}, start.getTypes(), locs);
  ++conditionDepth;
  auto savedEmitted = emitted;
  auto savedMaterialized = materialized;
  builder.setInsertionPointToEnd(before);
  FailureOr<Value> condition = emitCondition(before->getArguments());
  if (failed(condition))
    return failure();
  scf::ConditionOp::create(builder, loc, *condition, before->getArguments());
  emitted = savedEmitted;
  materialized = savedMaterialized;
  builder.setInsertionPointToEnd(after);
  FailureOr<SmallVector<Value>> next = emitBody(after->getArguments());
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  emitted = std::move(savedEmitted);
  materialized = std::move(savedMaterialized);
  --conditionDepth;
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// True if linalg can have such a read as an operand: it is unconditional, and each index is 0, a loop that runs over
/// the whole dimension (linalg takes the loop's extent from it), a sum of loops with positive factors, or a panel
/// number and an offset within the panel.
bool ElementEmitter::isOperandMap(ArrayRef<AffineExpr> dims, ArrayRef<AffineExpr> indices) const {
  if (conditionDepth > 0)
    return false;
  for (auto [dim, index] : llvm::zip(dims, indices))
    if (auto loop = dyn_cast<AffineDimExpr>(index); loop && extents[loop.getPosition()] != dim)
      return false;
  // linalg computes the value of an index at the last step of its loops, which an empty loop does not have.
  auto isOverNothing = [&](AffineExpr index) {
    return !isa<AffineDimExpr>(index) && llvm::any_of(llvm::enumerate(extents), [&](auto extent) {
      return getConstant(extent.value()) == 0 && index.isFunctionOfDim(extent.index());
    });
  };
  if (llvm::any_of(indices, isOverNothing))
    return false;
  auto isScaledLoop = [](AffineExpr term) {
    if (isa<AffineDimExpr>(term))
      return true;
    auto product = dyn_cast<AffineBinaryOpExpr>(term);
    return product && product.getKind() == AffineExprKind::Mul && isa<AffineDimExpr>(product.getLHS()) &&
           getConstant(product.getRHS()).value_or(0) > 0;
  };
  auto isSum = [&](AffineExpr index) {
    while (auto sum = dyn_cast<AffineBinaryOpExpr>(index)) {
      if (sum.getKind() != AffineExprKind::Add)
        break;
      if (!isScaledLoop(sum.getRHS()))
        return false;
      index = sum.getLHS();
    }
    return getConstant(index) == 0 || isScaledLoop(index);
  };
  auto isPanel = [&](AffineExpr index) { return llvm::is_contained(panelIndices, index); };
  return llvm::all_of(indices, [&](AffineExpr index) { return isSum(index) || isPanel(index); });
}

Value ElementEmitter::readTensor(Value tensor, ArrayRef<AffineExpr> dims, ArrayRef<AffineExpr> indices) {
  if (isOperandMap(dims, indices)) {
    AffineMap map = AffineMap::get(numLoops, 0, indices, loc.getContext());
    for (auto [i, input] : llvm::enumerate(inputs))
      if (input == tensor && inputMaps[i] == map)
        return body->getArgument(i);
    unsigned position = inputs.size();
    inputs.push_back(tensor);
    inputMaps.push_back(map);
    Type stored = cast<RankedTensorType>(tensor.getType()).getElementType();
    return body->insertArgument(position, stored, loc);
  }
  SmallVector<Value> values;
  for (AffineExpr index : indices)
    values.push_back(materialize(index));
  return tensor::ExtractOp::create(builder, loc, tensor, values);
}

/// linalg takes the extent of a loop from an operand that has a dimension indexed by the loop alone. Loops without such
/// an operand get one that only has a shape; it is not read, so it is eliminated later.
void ElementEmitter::addHiddenLoops(OpBuilder &outer) {
  SmallVector<AffineExpr> indices;
  Dims hidden;
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    AffineExpr index = getLoop(loop);
    auto shows = [&](AffineMap map) { return llvm::is_contained(map.getResults(), index); };
    if (llvm::any_of(inputMaps, shows) || llvm::any_of(outputMaps, shows))
      continue;
    indices.push_back(index);
    hidden.push_back(extent);
  }
  if (indices.empty())
    return;
  body->insertArgument(inputs.size(), builder.getI8Type(), loc);
  inputs.push_back(scope.createEmpty(outer, loc, hidden, builder.getI8Type()));
  inputMaps.push_back(AffineMap::get(numLoops, 0, indices, loc.getContext()));
}

SmallVector<Value> ElementEmitter::addOutputs(ValueRange tensors, ArrayRef<AffineMap> maps) {
  SmallVector<Value> old;
  for (auto [tensor, map] : llvm::zip(tensors, maps)) {
    outputs.push_back(tensor);
    outputMaps.push_back(map);
    old.push_back(body->addArgument(cast<RankedTensorType>(tensor.getType()).getElementType(), loc));
  }
  return old;
}

linalg::GenericOp ElementEmitter::finish(OpBuilder &outer, ValueRange results,
                                         ArrayRef<utils::IteratorType> iterators) {
  addHiddenLoops(outer);
  for (size_t out = 0; out < outputs.size(); ++out)
    for (size_t in = 0; in < inputs.size();) {
      if (inputs[in] != outputs[out] || inputMaps[in] != outputMaps[out]) {
        ++in;
        continue;
      }
      body->getArgument(in).replaceAllUsesWith(body->getArgument(inputs.size() + out));
      body->eraseArgument(in);
      inputs.erase(inputs.begin() + in);
      inputMaps.erase(inputMaps.begin() + in);
    }
  linalg::YieldOp::create(builder, loc, results);
  SmallVector<AffineMap> maps(inputMaps);
  maps.append(outputMaps);
  auto generic =
      linalg::GenericOp::create(outer, loc, TypeRange(ValueRange(outputs)), inputs, outputs, maps, iterators);
  generic.getRegion().takeBody(*region);
  return generic;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

std::optional<ElementSource> tenon::getMovedElement(Value value, ArrayRef<AffineExpr> indices) {
  auto map = value.getDefiningOp<IndexMapOpInterface>();
  return map ? std::optional(ElementSource{map->getOperand(0), map.getSourceIndices(indices)}) : std::nullopt;
}

FailureOr<Value> ElementEmitter::emit(Value value, ArrayRef<AffineExpr> indices) {
  if (Value scalar = bound.lookup(value))
    return scalar;
  Key key{value, SmallVector<AffineExpr, 4>(indices)};
  if (auto it = emitted.find(key); it != emitted.end())
    return it->second;
  FailureOr<Value> scalar;
  if (Value tensor = scope.lookupTensor(value))
    scalar = fromStorage(builder, loc, readTensor(tensor, getDims(value), indices), getElementTypeOrSelf(value));
  else if (EmitElement emitElement = scope.lookupElements(value))
    scalar = emitElement(*this, indices);
  else
    scalar = emitOp(value.getDefiningOp(), value, indices);
  if (succeeded(scalar))
    emitted[key] = *scalar;
  return scalar;
}

FailureOr<Value> ElementEmitter::emitElement(PadOp op, ArrayRef<AffineExpr> indices) {
  Dims dims = getDims(op.getInput());
  SmallVector<AffineExpr> at;
  Value inside;
  auto require = [&](Value condition) {
    inside = inside ? arith::AndIOp::create(builder, loc, inside, condition).getResult() : condition;
  };
  for (auto [i, index] : llvm::enumerate(indices)) {
    AffineExpr low = op.getLow().getDims()[i], size = dims[i];
    AffineExpr source = subDims(index, low);
    if (op.getMode() == PadMode::constant) {
      int64_t spread = op.getInterior()[i] + 1;
      if (getConstant(low) == 0 && spread == 1 && getDim(op.getResult(), i) == size) {
        at.push_back(index);
        continue;
      }
      if (spread == 1) {
        require(emitInBounds(source, size));
        at.push_back(source);
        continue;
      }
      AffineExpr step = getDimConstant(loc.getContext(), spread);
      // The last element is at (size - 1) * spread; a negative position wraps to a large unsigned number and fails the
      // comparison.
      require(emitInBounds(source, simplifyDim((size - 1) * step + 1)));
      Value rest = arith::RemUIOp::create(builder, loc, materialize(source), materialize(step));
      require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                                    materialize(getDimConstant(loc.getContext(), 0))));
      at.push_back(addRuntimeIndex(arith::DivUIOp::create(builder, loc, materialize(source), materialize(step))));
      continue;
    }
    // An empty dimension has no element to repeat, which the kernel's start checks; here a period of 0 must not be a
    // divisor.
    Value position = materialize(source), count = materialize(size);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value last = arith::SubIOp::create(builder, loc, count, one);
    if (op.getMode() == PadMode::edge) {
      position = arith::MinSIOp::create(builder, loc, arith::MaxSIOp::create(builder, loc, position, zero), last);
    } else {
      // Both modes are periodic: `size` elements, or forwards and backwards without the borders.
      Value period = arith::MaxSIOp::create(builder, loc, count, one);
      if (op.getMode() == PadMode::reflect)
        period = arith::MaxSIOp::create(builder, loc, arith::AddIOp::create(builder, loc, last, last), one);
      position = arith::RemSIOp::create(builder, loc, position, period);
      Value negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, position, zero);
      position = arith::SelectOp::create(builder, loc, negative, arith::AddIOp::create(builder, loc, position, period),
                                         position);
      if (op.getMode() == PadMode::reflect) {
        Value back = arith::SubIOp::create(builder, loc, period, position);
        position = arith::MinSIOp::create(builder, loc, position, back);
      }
    }
    at.push_back(addRuntimeIndex(position));
  }
  if (!inside)
    return emit(op.getInput(), at);
  return emitIf(
      inside, getScalarType(op.getType().getElementType()), [&] { return emit(op.getInput(), at); },
      [&] { return emit(op.getValue(), {}); });
}

SmallVector<AffineExpr> ElementEmitter::getPackedIndices(UnpackOp op, ArrayRef<AffineExpr> indices, AffineExpr word) {
  AffineExpr width = getDimConstant(loc.getContext(), op.getPanelColumns()), index = indices[op.getAxis()];
  AffineExpr four = getDimConstant(loc.getContext(), 4), place = modDims(index, width);
  std::optional<int64_t> k4Axis = op.getK4Axis(), sharedAxis = op.getK4Axis() ? op.getK4Axis() : op.getPackedI32Axis();
  SmallVector<AffineExpr> at{divDims(index, width)};
  for (auto [i, other] : llvm::enumerate(indices))
    if (i != op.getAxis())
      at.push_back(op.getBits() && op.getPackedI32Axis() == static_cast<int64_t>(i)
                       ? word
                       : divDims(other, getDimConstant(loc.getContext(), op.getNeighbours(i))));
  if (k4Axis)
    place = addDims(mulDims(place, four), modDims(indices[*k4Axis], four));
  at.push_back(place);
  if (isa<AffineDimExpr>(index) && (!sharedAxis || isa<AffineDimExpr>(indices[*sharedAxis]))) {
    panelIndices.append({at.front(), at.back()});
    if (sharedAxis)
      panelIndices.push_back(at[*sharedAxis + (*sharedAxis < static_cast<int64_t>(op.getAxis()) ? 1 : 0)]);
  }
  return at;
}

FailureOr<Value> ElementEmitter::emitFromPackedI32(UnpackOp op, ArrayRef<AffineExpr> indices) {
  FailureOr<Value> word = emit(op.getInput(), getPackedIndices(op, indices));
  if (failed(word))
    return failure();
  MLIRContext *context = loc.getContext();
  auto makeDim = [&](int64_t number) { return getDimConstant(context, number); };
  auto makeConstant = [&](int64_t number) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), number).getResult();
  };
  Type type = op.getType().getElementType();
  int64_t bits = type.getIntOrFloatBitWidth();
  AffineExpr index = indices[*op.getPackedI32Axis()];
  // Neighbours of 4 bits are in neighbouring bytes, too.
  int64_t width = std::max<int64_t>(bits, 8);
  AffineExpr bit = mulDims(modDims(index, makeDim(32 / width)), makeDim(width));
  if (bits == 4)
    bit = addDims(bit, mulDims(divDims(modDims(index, makeDim(8)), makeDim(4)), makeDim(4)));
  Value shift = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), materialize(bit));
  // With the sign: to the top, and down again.
  if (!type.isUnsignedInteger()) {
    Value up = arith::SubIOp::create(builder, loc, makeConstant(32 - bits), shift);
    Value top = arith::ShLIOp::create(builder, loc, *word, up);
    return arith::ShRSIOp::create(builder, loc, top, makeConstant(32 - bits)).getResult();
  }
  Value shifted = arith::ShRUIOp::create(builder, loc, *word, shift);
  return arith::AndIOp::create(builder, loc, shifted, makeConstant((1 << bits) - 1)).getResult();
}

FailureOr<Value> ElementEmitter::emitFixedNumber(UnpackOp op, ArrayRef<AffineExpr> indices) {
  FixedNumbers format(*op.getBits());
  MLIRContext *context = loc.getContext();
  auto makeConstant = [&](int64_t number) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(number))).getResult();
  };
  AffineExpr depth = indices[*op.getPackedI32Axis()], group = getDimConstant(context, format.group),
             first = mulDims(divDims(depth, group), getDimConstant(context, format.words));
  SmallVector<Value> words;
  for (int64_t word = 0; word < format.words; ++word) {
    FailureOr<Value> read =
        emit(op.getInput(), getPackedIndices(op, indices, addDims(first, getDimConstant(context, word))));
    if (failed(read))
      return failure();
    words.push_back(*read);
  }
  // If loops are unrolled, the position of a number within its word is a constant.
  Value place = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), materialize(modDims(depth, group)));
  Value result = words.front();
  for (int64_t number = 1; number < format.group; ++number) {
    Value value = number < format.words ? words[number] : Value();
    for (auto [word, from, count, to] :
         number < format.words ? std::vector<FixedNumbers::BitField>() : format.getBitFields(number)) {
      Value bits = words[word];
      if (to > from)
        bits = arith::ShLIOp::create(builder, loc, bits, makeConstant(to - from));
      else if (from > to)
        bits = arith::ShRUIOp::create(builder, loc, bits, makeConstant(from - to));
      // If the field reaches an end of the word, the shift alone clears the other bits, and no mask is needed.
      if (to + count < 32 || from > 0)
        bits = arith::AndIOp::create(builder, loc, bits, makeConstant(((int64_t(1) << count) - 1) << to));
      value = value ? arith::OrIOp::create(builder, loc, value, bits).getResult() : bits;
    }
    Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, place, makeConstant(number));
    result = arith::SelectOp::create(builder, loc, isThis, value, result);
  }
  return result;
}

FailureOr<Value> ElementEmitter::emitElement(DequantizeOp op, ArrayRef<AffineExpr> indices) {
  Type result = op.getType().getElementType(), compute = result.isF64() ? result : builder.getF32Type();
  auto emitParameter = [&](Value parameter) -> FailureOr<Value> {
    SmallVector<AffineExpr> at;
    for (auto [i, dim] : llvm::enumerate(getDims(parameter)))
      at.push_back(getConstant(dim) == 1 ? getDimConstant(loc.getContext(), 0) : indices[i]);
    AffineExpr &index = at[op.getAxis()];
    bool isLoop = isa<AffineDimExpr>(index);
    index = divDims(index, getDimConstant(loc.getContext(), op.getBlock()));
    if (isLoop)
      panelIndices.push_back(index);
    FailureOr<Value> scalar = emit(parameter, at);
    if (failed(scalar))
      return failure();
    return castScalar(builder, loc, *scalar, getElementTypeOrSelf(parameter), compute);
  };
  auto unpack = op.getInput().getDefiningOp<UnpackOp>();
  bool isPackedI32 = unpack && unpack.hasSmallIntegers();
  FailureOr<Value> number = isPackedI32 ? emitFromPackedI32(unpack, indices) : emit(op.getInput(), indices);
  FailureOr<Value> scale = emitParameter(op.getScale());
  if (failed(number) || failed(scale))
    return failure();
  Value x = isPackedI32 ? arith::SIToFPOp::create(builder, loc, compute, *number).getResult()
                        : castScalar(builder, loc, *number, getElementTypeOrSelf(op.getInput()), compute);
  if (op.getZero()) {
    FailureOr<Value> zero = emitParameter(op.getZero());
    if (failed(zero))
      return failure();
    x = arith::SubFOp::create(builder, loc, x, *zero);
  }
  return castScalar(builder, loc, arith::MulFOp::create(builder, loc, x, *scale), compute, result);
}

/// Emits term `index` of `numTerms` of bf16. Three terms are truncated, and exact; fewer are rounded to nearest.
static Value emitBf16Term(OpBuilder &builder, Location loc, Value x, Value index, int64_t numTerms) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type(), bf16 = builder.getBF16Type();
  auto getLargestTerm = [&](Value value) -> Value {
    if (numTerms < 3) {
      Value rounded = arith::TruncFOp::create(builder, loc, bf16, value);
      return arith::ExtFOp::create(builder, loc, f32, rounded);
    }
    Value bits = arith::BitcastOp::create(builder, loc, i32, value);
    Value mask = arith::ConstantIntOp::create(builder, loc, i32, static_cast<int32_t>(0xffff0000));
    return arith::BitcastOp::create(builder, loc, f32, arith::AndIOp::create(builder, loc, bits, mask));
  };
  Value rest = x, term = rest;
  for (int64_t i = 1; i < numTerms; ++i) {
    rest = arith::SubFOp::create(builder, loc, rest, getLargestTerm(rest));
    Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, index,
                                         arith::ConstantIndexOp::create(builder, loc, i));
    term = arith::SelectOp::create(builder, loc, isThis, rest, term);
  }
  if (numTerms < 3)
    return arith::TruncFOp::create(builder, loc, bf16, term);
  Value bits = arith::BitcastOp::create(builder, loc, i32, term),
        sixteen = arith::ConstantIntOp::create(builder, loc, i32, 16);
  Value upper =
      arith::TruncIOp::create(builder, loc, builder.getI16Type(), arith::ShRUIOp::create(builder, loc, bits, sixteen));
  return arith::BitcastOp::create(builder, loc, bf16, upper);
}

/// Emits term `index` of `numTerms` of i8: digits from -128 to 127 of a number in units of the last one, which is
/// rounded to nearest. The first digit is at most 127, since larger numbers are.
static Value emitInt8Term(OpBuilder &builder, Location loc, Value x, Value index, int64_t numTerms) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(f32, value));
  };
  // NaN becomes the other operand.
  Value above = arith::MaxNumFOp::create(builder, loc, x, number(-kLargestInt8)),
        limited = arith::MinNumFOp::create(builder, loc, above, number(kLargestInt8)),
        units = arith::MulFOp::create(builder, loc, limited, number(std::exp2(kInt8TermBits * (numTerms - 1)))),
        whole = math::RoundEvenOp::create(builder, loc, units);
  Value rest = arith::FPToSIOp::create(builder, loc, i32, whole), digit = rest;
  Value half = arith::ConstantIntOp::create(builder, loc, i32, 1 << (kInt8TermBits - 1)),
        bits = arith::ConstantIntOp::create(builder, loc, i32, kInt8TermBits);
  for (int64_t i = numTerms - 1; i-- > 0;) {
    Value rounded = arith::AddIOp::create(builder, loc, rest, half);
    rest = arith::ShRSIOp::create(builder, loc, rounded, bits);
    Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, index,
                                         arith::ConstantIndexOp::create(builder, loc, i));
    digit = arith::SelectOp::create(builder, loc, isThis, rest, digit);
  }
  return arith::TruncIOp::create(builder, loc, builder.getI8Type(), digit);
}

FailureOr<Value> ElementEmitter::emitElement(SplitTermsOp op, ArrayRef<AffineExpr> indices) {
  MLIRContext *context = loc.getContext();
  ArrayRef<int64_t> last = op.getType().getShape().take_back(2);
  int64_t numTerms = last[0], step = last[1];
  AffineExpr size = getDim(op.getInput(), op.getInput().getType().getRank() - 1);
  SmallVector<AffineExpr> at(indices.drop_back(2));
  at.back() = addDims(mulDims(at.back(), getDimConstant(context, step)), indices.back());
  bool isWhole = getConstant(size) && *getConstant(size) % step == 0;
  FailureOr<Value> x =
      isWhole ? emit(op.getInput(), at)
              : emitIf(
                    emitInBounds(at.back(), size), builder.getF32Type(), [&] { return emit(op.getInput(), at); },
                    [&]() -> FailureOr<Value> {
                      return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0)).getResult();
                    });
  if (failed(x))
    return failure();
  Value index = materialize(indices.drop_back().back());
  bool isOfBf16 = op.getType().getElementType().isBF16();
  return isOfBf16 ? emitBf16Term(builder, loc, *x, index, numTerms) : emitInt8Term(builder, loc, *x, index, numTerms);
}

FailureOr<Value> ElementEmitter::emitSumOfTerms(Value terms, SmallVector<AffineExpr> indices, size_t dim) {
  Value sum;
  // Adding from the smallest to the largest term makes every partial sum exact.
  for (int64_t i = cast<RankedTensorType>(terms.getType()).getDimSize(dim); i-- > 0;) {
    indices[dim] = getDimConstant(loc.getContext(), i);
    panelIndices.push_back(indices[dim]);
    FailureOr<Value> term = emit(terms, indices);
    if (failed(term))
      return failure();
    Type type = cast<RankedTensorType>(terms.getType()).getElementType();
    Value wide = castScalar(builder, loc, *term, type, builder.getF32Type());
    if (type.isInteger() && i > 0) {
      auto unit = builder.getF32FloatAttr(static_cast<float>(std::exp2(-kInt8TermBits * i)));
      wide = arith::MulFOp::create(builder, loc, wide, arith::ConstantOp::create(builder, loc, unit));
    }
    sum = sum ? arith::AddFOp::create(builder, loc, sum, wide).getResult() : wide;
  }
  return sum;
}

FailureOr<Value> ElementEmitter::emitElement(MergeTermsOp op, ArrayRef<AffineExpr> indices) {
  AffineExpr place = indices.back(), step = getDim(op.getInput(), op.getInput().getType().getRank() - 1);
  SmallVector<AffineExpr> at(indices.drop_back());
  at.append({divDims(place, step), AffineExpr(), modDims(place, step)});
  if (isa<AffineDimExpr>(place))
    panelIndices.append({at.end()[-3], at.back()});
  return emitSumOfTerms(op.getInput(), at, at.size() - 2);
}

FailureOr<Value> ElementEmitter::emitElement(UnpackTermsOp op, ArrayRef<AffineExpr> indices) {
  MLIRContext *context = loc.getContext();
  AffineExpr column = indices[op.getAxis()], depth = indices[op.getDepthAxis()],
             neighbours = getDimConstant(context, op.getNeighbours());
  AffineExpr step = getDimConstant(context, op.getStep()), width = getDimConstant(context, op.getPanelColumns());
  SmallVector<AffineExpr> at{divDims(column, width)};
  for (auto [i, other] : llvm::enumerate(indices))
    if (i != op.getAxis() && i != op.getDepthAxis())
      at.push_back(other);
  at.append({divDims(depth, step), AffineExpr(), divDims(modDims(depth, step), neighbours),
             addDims(mulDims(modDims(column, width), neighbours), modDims(depth, neighbours))});
  if (isa<AffineDimExpr>(column) && isa<AffineDimExpr>(depth))
    panelIndices.append({at.front(), at.end()[-4], at.end()[-2], at.back()});
  return emitSumOfTerms(op.getInput(), at, at.size() - 3);
}

FailureOr<Value> ElementEmitter::emitElement(ConcatOp op, ArrayRef<AffineExpr> indices) {
  int64_t axis = op.getAxis();
  SmallVector<AffineExpr> starts{getDimConstant(loc.getContext(), 0)};
  for (Value input : op.getInputs().drop_back())
    starts.push_back(addDims(starts.back(), getDim(input, axis)));
  // Selects the input by binary search: O(log n) comparisons at run time, and ifs nested no deeper.
  std::function<FailureOr<Value>(size_t, size_t)> emitOneOf = [&](size_t first, size_t end) -> FailureOr<Value> {
    if (end - first == 1) {
      SmallVector<AffineExpr> at(indices);
      at[axis] = subDims(indices[axis], starts[first]);
      return emit(op.getInputs()[first], at);
    }
    size_t middle = first + (end - first) / 2;
    Value isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, materialize(indices[axis]),
                                           materialize(starts[middle]));
    return emitIf(
        isBefore, getScalarType(op.getType().getElementType()), [&] { return emitOneOf(first, middle); },
        [&] { return emitOneOf(middle, end); });
  };
  return emitOneOf(0, op.getInputs().size());
}

FailureOr<Value> ElementEmitter::emitElement(SizesOp op, ArrayRef<AffineExpr> indices) {
  Value result;
  for (auto [i, dim] : llvm::enumerate(op.getValues().getDims())) {
    Value value = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(dim));
    value = castScalar(builder, loc, value, builder.getI64Type(), op.getType().getElementType());
    if (!result) {
      result = value;
      continue;
    }
    Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, materialize(indices[0]),
                                       arith::ConstantIndexOp::create(builder, loc, i));
    result = arith::SelectOp::create(builder, loc, here, value, result);
  }
  return result;
}

FailureOr<AffineExpr> ElementEmitter::emitGatherIndex(Value indices, ArrayRef<AffineExpr> at, AffineExpr size) {
  FailureOr<Value> element = emit(indices, at);
  if (failed(element))
    return failure();
  Value count = materialize(size), zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), *element);
  Value negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index, zero);
  index = arith::SelectOp::create(builder, loc, negative, arith::AddIOp::create(builder, loc, index, count), index);
  // The kernel's start checks all indices (IndexChecks.h). Here an index is only clamped, for tiles that run before
  // another thread has found an index out of bounds.
  Value last = arith::SubIOp::create(builder, loc, count, arith::ConstantIndexOp::create(builder, loc, 1));
  index = arith::MaxSIOp::create(builder, loc, arith::MinSIOp::create(builder, loc, index, last), zero);
  return addRuntimeIndex(index);
}

/// Returns the value of a splat as it is represented in scalar code.
static TypedAttr getScalarAttr(SplatElementsAttr splat) {
  Type type = getScalarType(splat.getElementType());
  if (isa<FloatType>(type))
    return FloatAttr::get(type, splat.getSplatValue<APFloat>());
  APInt bits = isa<FloatType>(splat.getElementType()) ? splat.getSplatValue<APFloat>().bitcastToAPInt()
                                                      : splat.getSplatValue<APInt>();
  return IntegerAttr::get(type, bits.zext(type.getIntOrFloatBitWidth()));
}

FailureOr<Value> ElementEmitter::emitElement(WeightOp op, ArrayRef<AffineExpr>) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return op->emitError("weight has to reach the kernel as an operand"), failure();
  return arith::ConstantOp::create(builder, loc, getScalarAttr(splat)).getResult();
}

FailureOr<Value> ElementEmitter::emitElement(UnpackOp op, ArrayRef<AffineExpr> indices) {
  if (op.getBits())
    return emitFixedNumber(op, indices);
  if (!op.getPackedI32Axis())
    return emit(op.getInput(), getPackedIndices(op, indices));
  FailureOr<Value> number = emitFromPackedI32(op, indices);
  if (failed(number))
    return failure();
  Type stored = op.getType().getElementType().isInteger(16) ? builder.getI16Type() : builder.getI8Type();
  return arith::TruncIOp::create(builder, loc, stored, *number).getResult();
}

FailureOr<Value> ElementEmitter::emitElement(IotaOp op, ArrayRef<AffineExpr> indices) {
  Value index = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(indices[op.getAxis()]));
  return castScalar(builder, loc, index, builder.getI64Type(), op.getType().getElementType());
}

FailureOr<Value> ElementEmitter::emitElement(GatherOp op, ArrayRef<AffineExpr> indices) {
  int64_t axis = op.getAxis(), rank = op.getIndices().getType().getRank();
  FailureOr<AffineExpr> index =
      emitGatherIndex(op.getIndices(), indices.slice(axis, rank), getDim(op.getInput(), axis));
  if (failed(index))
    return failure();
  SmallVector<AffineExpr> at(indices.take_front(axis));
  at.push_back(*index);
  llvm::append_range(at, indices.drop_front(axis + rank));
  return emit(op.getInput(), at);
}

FailureOr<Value> ElementEmitter::emitElement(GatherElementsOp op, ArrayRef<AffineExpr> indices) {
  int64_t axis = op.getAxis();
  FailureOr<AffineExpr> index = emitGatherIndex(op.getIndices(), indices, getDim(op.getInput(), axis));
  if (failed(index))
    return failure();
  SmallVector<AffineExpr> at(indices);
  at[axis] = *index;
  return emit(op.getInput(), at);
}

FailureOr<Value> ElementEmitter::emitElement(GatherNDOp op, ArrayRef<AffineExpr> indices) {
  Dims coordinates = getDims(op.getIndices());
  int64_t batch = op.getBatchDims(), count = *getConstant(coordinates.back());
  size_t outer = coordinates.size() - 1;
  SmallVector<AffineExpr> at(indices.take_front(batch));
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<AffineExpr> position(indices.take_front(outer));
    position.push_back(getDimConstant(loc.getContext(), i));
    FailureOr<AffineExpr> index = emitGatherIndex(op.getIndices(), position, getDim(op.getInput(), batch + i));
    if (failed(index))
      return failure();
    at.push_back(*index);
  }
  llvm::append_range(at, indices.drop_front(outer));
  return emit(op.getInput(), at);
}

FailureOr<Value> ElementEmitter::emitElement(CheckRangeOp op, ArrayRef<AffineExpr> indices) {
  return emit(op.getInput(), indices);
}

FailureOr<Value> ElementEmitter::emitOp(Operation *op, Value value, ArrayRef<AffineExpr> indices) {
  if (!op)
    return emitError(loc, "kernel argument has no tensor"), failure();
  if (op->hasTrait<Elementwise>()) {
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> scalar = emit(operand, getOperandIndices(operand, op->getResult(0), indices));
      if (failed(scalar))
        return failure();
      scalars.push_back(*scalar);
    }
    return emitElementwise(builder, loc, op, scalars);
  }
  if (std::optional<ElementSource> source = getMovedElement(value, indices))
    return emit(source->value, source->indices);
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case<CheckRangeOp, ConcatOp, DequantizeOp, GatherElementsOp, GatherNDOp, GatherOp, IotaOp, MergeTermsOp, PadOp,
            RandomBitsOp, RoiAlignOp, SearchSortedOp, SizesOp, SplitTermsOp, TreeEnsembleOp, UnpackOp, UnpackTermsOp,
            WeightOp>([&](auto known) { return emitElement(known, indices); })
      .Default([](Operation *other) -> FailureOr<Value> {
        return other->emitError("has no element form: it should have become a stage of its own"), failure();
      });
}
