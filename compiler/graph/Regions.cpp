//===- Regions.cpp - makes the bodies of branches and loops ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Regions.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tenon;

BodyBuilder::BodyBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {
  OperationState state(loc, IfOp::getOperationName());
  state.addRegion();
  state.addRegion();
  parent = builder.create(state);
  guard.emplace(builder);
  builder.setInsertionPointToEnd(&parent->getRegion(0).emplaceBlock());
}

BodyBuilder::~BodyBuilder() {
  guard.reset();
  if (!isAbandoned)
    parent->erase();
}

void BodyBuilder::finish(ArrayRef<Value> yielded) {
  YieldOp::create(builder, loc, yielded);
  guard.reset();
}

static ArrayAttr toArrayAttr(OpBuilder &builder, ArrayRef<std::string> names) {
  SmallVector<StringRef> list(names.begin(), names.end());
  return names.empty() ? ArrayAttr() : builder.getStrArrayAttr(list);
}

RegionResults tenon::createIf(OpBuilder &builder, Location loc, Value condition, TypeRange results,
                              ArrayRef<std::string> symbols, BodyBuilder &thenBody, BodyBuilder &elseBody) {
  auto branch = IfOp::create(builder, loc, results, condition, toArrayAttr(builder, symbols));
  thenBody.moveTo(branch.getThenBody());
  elseBody.moveTo(branch.getElseBody());
  if (failed(verify(branch)))
    return std::nullopt;
  return SmallVector<Value>(branch.getResults());
}

RegionResults tenon::createLoop(OpBuilder &builder, Location loc, Value condition, AffineExpr trips,
                                ArrayRef<Value> inits, ArrayRef<std::string> symbols, BodyBuilder &body) {
  if (llvm::is_contained(inits, Value()))
    return std::nullopt;
  auto loop =
      LoopOp::create(builder, loc, body.getBlock().getArgumentTypes(), condition, inits, toArrayAttr(builder, symbols),
                     trips ? ShapeAttr::get(builder.getContext(), trips) : ShapeAttr());
  body.moveTo(loop.getBody());
  if (failed(verify(loop)))
    return std::nullopt;
  return SmallVector<Value>(loop.getResults());
}
