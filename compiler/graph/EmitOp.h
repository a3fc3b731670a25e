//===- EmitOp.h - makes any operation of the dialect through a GraphBuilder ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For files that make operations which no method of GraphBuilder makes. It includes the dialect's generated headers.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_EMITOP_H
#define TENON_COMPILER_GRAPH_EMITOP_H

#include "compiler/graph/GraphBuilder.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Builders.h"

namespace tenon {

template <typename Op, typename... Args>
Op GraphBuilder::emit(llvm::ArrayRef<Type> types, llvm::ArrayRef<Value> operands, Args &&...args) {
  if (!hasAll(operands))
    return {};
  mlir::OperationState state(loc, Op::getOperationName());
  if constexpr (Op::template hasTrait<mlir::InferTypeOpInterface::Trait>()) {
    llvm::SmallVector<Type> placeholders(Op::template hasTrait<mlir::OpTrait::OneResult>() ? 1 : 2, f32());
    Op::build(builder, state, mlir::TypeRange(placeholders), std::forward<Args>(args)...);
    llvm::SmallVector<Type> inferred;
    if (mlir::failed(Op::inferReturnTypes(getContext(), loc, state.operands,
                                          state.attributes.getDictionary(getContext()), state.getRawProperties(),
                                          state.regions, inferred))) {
      setFailed();
      return {};
    }
    state.types.assign(inferred.begin(), inferred.end());
  } else {
    Op::build(builder, state, mlir::TypeRange(types), std::forward<Args>(args)...);
  }
  return mlir::cast_or_null<Op>(finish(state));
}

/// The first result of an operation; null for none.
template <typename Op> Value resultOf(Op op) { return op ? Value(op->getResult(0)) : Value(); }

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_EMITOP_H
