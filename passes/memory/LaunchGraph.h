//===- LaunchGraph.h - a block as a graph of launches -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_LAUNCHGRAPH_H
#define TENON_PASSES_MEMORY_LAUNCHGRAPH_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Block.h"
#include "passes/cost/MemoryPolicy.h"
#include "passes/memory/ordering/Graph.h"
#include "llvm/ADT/MapVector.h"

namespace tenon {

/// True if an operation computes nothing at run time: it moves with its users.
bool isFree(mlir::Operation *op);

/// The operations of a block and the memory that they use, in the form that passes/memory/ordering expects.
class LaunchGraph {
public:
  explicit LaunchGraph(mlir::Block &block) : block(block) {}

  /// False where the block has to keep its order.
  bool build();
  /// Returns the bytes of a value if each symbol has its typical value.
  static int64_t getTypicalBytes(mlir::Value value, const MemoryPolicy &policy = {});
  /// The number of the buffer that a value lies in.
  uint32_t getBuffer(mlir::Value value);

  ordering::Graph graph;
  llvm::SmallVector<mlir::Operation *> nodes; ///< of the graph, in the order in which they stand

  bool hasRegions = false; ///< whether there are branches or loops

private:
  void collectParts();
  bool collectBinders();
  void addNode(mlir::Operation *op);
  void addRegions(mlir::Operation *op, ordering::Node &node);
  void addSymbols(mlir::Operation *op, ordering::Node &node);
  void addEffects(mlir::Operation *op, ordering::Node &node);
  void visitSymbols(mlir::Operation *op, llvm::function_ref<void(mlir::AffineExpr)> visit);

  mlir::Block &block;
  llvm::DenseMap<mlir::Value, uint32_t> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> wholeOf;                    ///< of the inputs of a concat: its result
  llvm::MapVector<mlir::AffineExpr, mlir::Operation *> binders;        ///< of the symbols that get their values here
  llvm::DenseMap<mlir::AffineExpr, llvm::SmallVector<uint32_t>> users; ///< nodes, likewise
  llvm::DenseMap<mlir::Operation *, uint32_t> numbers;                 ///< of nodes
  std::optional<uint32_t> lastEffect, lastRequire;
};

} // namespace tenon

#endif // TENON_PASSES_MEMORY_LAUNCHGRAPH_H
