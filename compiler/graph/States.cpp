//===- States.cpp - what sessions keep from run to run --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/EmitOp.h"
#include "compiler/graph/Graph.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;

State Graph::declareState(StringRef name, ArrayRef<int64_t> shape, DType type, StringRef live, int64_t sequence) {
  assert(sequence >= 0 && "sequences are counted from zero");
  std::string own = sequence ? (name + "." + Twine(sequence)).str() : name.str();
  State result(*this, own);
  if (hasFailed())
    return result;
  if (mlir::SymbolTable::lookupSymbolIn(*module, own)) {
    fail("has two states '" + Twine(own) + "'");
    return result;
  }
  // States are inserted before main, in the order of their declaration.
  OpBuilder b(&module->getBody()->back());
  auto tensor = RankedTensorType::get(shape, getType(context, type));
  auto first = sequence ? FlatSymbolRefAttr::get(context, name) : FlatSymbolRefAttr();
  auto state = StateOp::create(b, builder->getLoc(), b.getStringAttr(own), TypeAttr::get(tensor),
                               live.empty() ? StringAttr() : b.getStringAttr(live), /*ring=*/nullptr,
                               /*initial=*/nullptr, b.getI64IntegerAttr(sequence), first);
  if (failed(verify(state)))
    builder->setFailed();
  return result;
}

State Graph::state(StringRef name, ArrayRef<int64_t> shape, DType type, int64_t sequence) {
  return declareState(name, shape, type, "", sequence);
}

State Graph::growingState(StringRef name, ArrayRef<int64_t> shape, StringRef live, DType type, int64_t sequence) {
  return declareState(name, shape, type, live, sequence);
}

/// Reports an error if a state would be read or written in a branch or a loop.
static void checkOutsideOfRegions(Graph &graph) {
  if (!isa<FunctionOpInterface>(graph.getOpBuilder().getInsertionBlock()->getParentOp()))
    graph.fail("a state is read and written outside of branches and loops");
}

Tensor State::read(const Dim &rows) const {
  checkOutsideOfRegions(*graph);
  if (graph->hasFailed())
    return graph->missing();
  auto declaration = cast<StateOp>(mlir::SymbolTable::lookupSymbolIn(*graph->module, name));
  RankedTensorType whole = declaration.getTensorType();
  Dims dims = getDims(whole);
  dims[0] = rows.getExpr(graph->getContext());
  GraphBuilder &b = graph->getBuilder();
  auto read = b.emit<StateReadOp>(Type(getTensorType(dims, whole.getElementType())), {},
                                  FlatSymbolRefAttr::get(graph->getContext(), name));
  return Tensor(*graph, resultOf(read));
}

void State::update(const Dim &at, const Tensor &value, bool extends) const {
  checkOutsideOfRegions(*graph);
  if (graph->hasFailed() || (value.getGraph() == graph && !graph->checkVisible(value)))
    return;
  if (value.getGraph() != graph)
    return graph->fail(value.getGraph() ? "has operands of two graphs" : "has an empty tensor as an operand");
  MLIRContext *context = graph->getContext();
  auto state = FlatSymbolRefAttr::get(context, name);
  auto begin = ShapeAttr::get(context, at.getExpr(context));
  graph->getBuilder().emit<StateUpdateOp>({}, {value.getValue()}, state, begin,
                                          extends ? UnitAttr::get(context) : UnitAttr(), value.getValue());
}

void State::write(const Dim &at, const Tensor &value) const { update(at, value, /*extends=*/false); }
void State::append(const Dim &live, const Tensor &value) const { update(live, value, /*extends=*/true); }
