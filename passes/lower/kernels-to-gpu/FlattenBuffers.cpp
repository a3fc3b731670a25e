//===- FlattenBuffers.cpp - kernels on buffers of one dimension -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/EmitDim.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_FLATTENBUFFERS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
/// Rewrites one kernel. Every buffer is an argument or a stack allocation; the views between it and an access
/// (subviews, casts) are folded into the index of the access.
class Flattener {
public:
  explicit Flattener(func::FuncOp kernel) : kernel(kernel) {}
  LogicalResult run();

private:
  /// What an access to `indices` of `memref` comes to.
  struct Place {
    Value buffer, index;
  };
  FailureOr<Place> resolve(OpBuilder &b, Operation *user, Value memref, SmallVector<Value> indices);
  FailureOr<Value> getSize(OpBuilder &b, Operation *user, Value memref, int64_t dim);
  LogicalResult lowerCopy(memref::CopyOp copy);
  LogicalResult lowerAccess(Operation *access);
  InFlightDiagnostic refuse(Operation *op) {
    return op->emitError("'") << op->getName() << "' on a buffer has no form for Vulkan";
  }

  func::FuncOp kernel;
  llvm::DenseMap<unsigned, Value> symbols;
  /// The flat buffer of each old one.
  llvm::DenseMap<Value, Value> flat;
};
} // namespace

/// Returns the type in which elements are stored: SPIR-V has no bf16, and MLIR would silently store it in 32 bits.
static Type getStoredType(Type element) {
  return element.isBF16() ? IntegerType::get(element.getContext(), 16) : element;
}

FailureOr<Value> Flattener::getSize(OpBuilder &b, Operation *user, Value memref, int64_t dim) {
  Location loc = user->getLoc();
  if (auto type = cast<MemRefType>(memref.getType()); !type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim)).getResult();
  if (auto argument = dyn_cast<BlockArgument>(memref); argument && flat.contains(memref)) {
    auto dims = kernel.getArgAttrOfType<ShapeAttr>(argument.getArgNumber(), kDimsAttr);
    assert(dims && dim < static_cast<int64_t>(dims.getDims().size()) && "a buffer of a kernel says its dimensions");
    return emitDim(b, loc, dims.getDims()[dim], b.getIndexType(), Dividends::any,
                   [&](AffineExpr leaf) { return symbols.lookup(cast<AffineSymbolExpr>(leaf).getPosition()); });
  }
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return getSize(b, user, cast.getSource(), dim);
  if (auto subview = memref.getDefiningOp<memref::SubViewOp>()) {
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    for (auto [i, size] : llvm::enumerate(subview.getMixedSizes()))
      if (!dropped[i] && dim-- == 0)
        return getValueOrCreateConstantIndexOp(b, loc, size);
  }
  // What is open stays whole.
  if (auto expand = memref.getDefiningOp<memref::ExpandShapeOp>())
    for (auto [i, group] : llvm::enumerate(expand.getReassociationIndices()))
      if (llvm::is_contained(group, dim) && group.size() == 1)
        return getSize(b, user, expand.getSrc(), i);
  return refuse(memref.getDefiningOp() ? memref.getDefiningOp() : user);
}

FailureOr<Flattener::Place> Flattener::resolve(OpBuilder &b, Operation *user, Value memref,
                                               SmallVector<Value> indices) {
  assert(static_cast<int64_t>(indices.size()) == cast<MemRefType>(memref.getType()).getRank() &&
         "an access has an index for each dimension");
  Location loc = user->getLoc();
  if (auto found = flat.find(memref); found != flat.end()) {
    Value index = arith::ConstantIndexOp::create(b, loc, 0);
    for (auto [i, position] : llvm::enumerate(indices)) {
      FailureOr<Value> size = getSize(b, user, memref, i);
      if (failed(size))
        return failure();
      index = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, index, *size), position);
    }
    return Place{found->second, index};
  }
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return resolve(b, user, cast.getSource(), indices);
  if (auto expand = memref.getDefiningOp<memref::ExpandShapeOp>()) {
    SmallVector<Value> inSource;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Value index = arith::ConstantIndexOp::create(b, loc, 0);
      for (int64_t dim : group) {
        FailureOr<Value> size = getSize(b, user, memref, dim);
        if (failed(size))
          return failure();
        index = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, index, *size), indices[dim]);
      }
      inSource.push_back(index);
    }
    return resolve(b, user, expand.getSrc(), inSource);
  }
  auto subview = memref.getDefiningOp<memref::SubViewOp>();
  if (!subview)
    return refuse(memref.getDefiningOp() ? memref.getDefiningOp() : user);
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  SmallVector<Value> inSource;
  size_t next = 0;
  for (auto [i, offset, stride] : llvm::enumerate(subview.getMixedOffsets(), subview.getMixedStrides())) {
    Value position = getValueOrCreateConstantIndexOp(b, loc, offset);
    if (!dropped[i]) {
      Value step = getValueOrCreateConstantIndexOp(b, loc, stride);
      position = arith::AddIOp::create(b, loc, position, arith::MulIOp::create(b, loc, indices[next++], step));
    }
    inSource.push_back(position);
  }
  return resolve(b, user, subview.getSource(), inSource);
}

/// A copy becomes loops over its elements.
LogicalResult Flattener::lowerCopy(memref::CopyOp copy) {
  OpBuilder b(copy);
  Location loc = copy.getLoc();
  auto type = cast<MemRefType>(copy.getTarget().getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> indices;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    FailureOr<Value> size = getSize(b, copy, copy.getTarget(), i);
    if (failed(size))
      return failure();
    auto loop = scf::ForOp::create(b, loc, zero, *size, one);
    indices.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  Value element = memref::LoadOp::create(b, loc, copy.getSource(), indices);
  memref::StoreOp::create(b, loc, element, copy.getTarget(), indices);
  copy.erase();
  return success();
}

LogicalResult Flattener::lowerAccess(Operation *access) {
  OpBuilder b(access);
  Location loc = access->getLoc();
  if (auto load = dyn_cast<memref::LoadOp>(access)) {
    FailureOr<Place> place = resolve(b, access, load.getMemRef(), SmallVector<Value>(load.getIndices()));
    if (failed(place))
      return failure();
    Value element = memref::LoadOp::create(b, loc, place->buffer, place->index);
    if (element.getType() != load.getType())
      element = arith::BitcastOp::create(b, loc, load.getType(), element);
    load.replaceAllUsesWith(element);
  } else if (auto store = dyn_cast<memref::StoreOp>(access)) {
    FailureOr<Place> place = resolve(b, access, store.getMemRef(), SmallVector<Value>(store.getIndices()));
    if (failed(place))
      return failure();
    Value element = store.getValue();
    if (Type stored = getStoredType(element.getType()); stored != element.getType())
      element = arith::BitcastOp::create(b, loc, stored, element);
    memref::StoreOp::create(b, loc, element, place->buffer, place->index);
  } else {
    auto dim = cast<memref::DimOp>(access);
    if (!dim.getConstantIndex())
      return refuse(dim);
    FailureOr<Value> size = getSize(b, access, dim.getSource(), *dim.getConstantIndex());
    if (failed(size))
      return failure();
    dim.replaceAllUsesWith(*size);
  }
  access->erase();
  return success();
}

LogicalResult Flattener::run() {
  MLIRContext *context = kernel.getContext();
  Block &body = kernel.getBody().front();
  unsigned numArguments = kernel.getNumArguments();
  if (auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr)) {
    assert(names.size() + 2 <= numArguments && "sizes and the range of tiles are the last arguments of a kernel");
    auto *dialect = context->getOrLoadDialect<TenonDialect>();
    for (auto [i, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
      symbols[dialect->internSymbol(name)] = kernel.getArgument(numArguments - 2 - names.size() + i);
  }
  // New arguments are appended, and the old ones are erased once they have no users.
  llvm::BitVector old(2 * numArguments, false);
  SmallVector<Type> types;
  for (unsigned i = 0; i < numArguments; ++i) {
    BlockArgument argument = body.getArgument(i);
    auto type = dyn_cast<MemRefType>(argument.getType());
    types.push_back(type ? Type(MemRefType::get(ShapedType::kDynamic, getStoredType(type.getElementType())))
                         : argument.getType());
    flat[argument] = body.addArgument(types.back(), argument.getLoc());
    old.set(i);
  }
  kernel.walk([&](memref::AllocaOp alloca) {
    OpBuilder b(alloca);
    MemRefType type = alloca.getType();
    flat[alloca.getResult()] = memref::AllocaOp::create(
        b, alloca.getLoc(),
        MemRefType::get(std::max<int64_t>(type.getNumElements(), 1), getStoredType(type.getElementType())));
  });
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    if (failed(lowerCopy(copy)))
      return failure();
  SmallVector<Operation *> accesses;
  kernel.walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp, memref::DimOp>(op))
      accesses.push_back(op);
  });
  for (Operation *access : accesses)
    if (failed(lowerAccess(access)))
      return failure();
  // Views have no users any more. They are erased bottom-up, since uses come after definitions.
  llvm::DenseSet<Value> isFlat;
  for (Value buffer : llvm::make_second_range(flat))
    isFlat.insert(buffer);
  SmallVector<Operation *> dead;
  WalkResult left = kernel.walk([&](Operation *op) {
    auto isOld = [&](Value value) { return isa<MemRefType>(value.getType()) && !isFlat.contains(value); };
    if (llvm::none_of(op->getOperands(), isOld) && llvm::none_of(op->getResults(), isOld))
      return WalkResult::advance();
    if (!isa<memref::SubViewOp, memref::CastOp, memref::ExpandShapeOp, memref::AllocaOp>(op)) {
      refuse(op);
      return WalkResult::interrupt();
    }
    dead.push_back(op);
    return WalkResult::advance();
  });
  if (left.wasInterrupted())
    return failure();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  for (unsigned i = 0; i < numArguments; ++i)
    if (!isa<MemRefType>(types[i]))
      body.getArgument(i).replaceAllUsesWith(flat[body.getArgument(i)]);
  body.eraseArguments(old);
  kernel.setFunctionType(FunctionType::get(context, types, {}));
  return success();
}

namespace {
struct FlattenBuffers : public tenon::impl::FlattenBuffersBase<FlattenBuffers> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && failed(Flattener(kernel).run()))
        return signalPassFailure();
  }
};
} // namespace
