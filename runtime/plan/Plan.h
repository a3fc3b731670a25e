//===- Plan.h - a plan as the runtime uses it ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made by verifyPlan from the FlatBuffers section; once it exists, every index in
// it is in range. Lists of indices lie end to end in one array, so that the loop
// reads memory in order.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_PLAN_H
#define TENON_RUNTIME_PLAN_PLAN_H

#include "runtime/format/Instruction.h"
#include "tenon/plugin.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::rt {

/// The values are those of tenon.fmt.ExprOp.
enum class ExprOp : uint8_t { constant, symbol, add, sub, mul, floordiv, ceildiv, mod, min, max, align };

/// The values are those of tenon.fmt.Storage.
enum class Storage : uint8_t { arena, weight, state, input, output, heap };

struct Expr {
  ExprOp op;
  int64_t a, b;
};

struct Symbol {
  const char *name;
  int64_t min, max;
  bool fromInput;         // an input's dimension binds it
  bool fromState = false; // a state does, before any input
  /// True if it is bound before the run; otherwise an instruction binds it.
  bool isEarly() const { return fromInput || fromState; }
};

/// In place of an expression that there is not.
inline constexpr uint32_t kNoExpr = UINT32_MAX;

/// Part of one of the plan's index lists.
struct IndexRange {
  uint32_t begin = 0, count = 0;
};

struct Tensor {
  const char *name;
  tenon_dtype dtype;
  IndexRange dims; // in Plan::dims
  tenon_role role;
};

/// The values are those of tenon.fmt.StateKind.
enum class StateKind : uint8_t { whole, growing, ring };

/// States of at least so many bytes begin at a page, so that slots can share the pages of their rows. What mapping, and
/// faults of pages, cost beside copying is in docs/performance/generation.md.
inline constexpr uint64_t kShareableState = uint64_t(1) << 20; // policy: fewer bytes are copied in less time

/// What a session keeps from run to run.
struct State {
  const char *name = "";
  tenon_dtype dtype{};
  StateKind kind{};
  IndexRange dims;                                         // in Plan::stateDims
  int64_t capacity = 0;                                    // rows
  uint64_t offset = 0, bytes = 0, rowBytes = 0;            // of the memory of a slot
  uint32_t live = kNoExpr, slot = kNoExpr, next = kNoExpr; // symbols and an expression, as in plan.fbs
  int64_t ringRows = 0;                                    // that a run writes to a ring
  uint64_t initial = UINT64_MAX;                           // in the weights; otherwise zeros
  uint32_t sequence = 0;                                   // of a run, that it belongs to
};

struct Buffer {
  const char *name;
  Storage storage;
  uint32_t index;                           // of the input, output, state or block
  uint32_t offset, size;                    // expressions
  uint32_t start = kNoExpr, room = kNoExpr; // expressions, if any: the part of the arena in which it always lies

  bool hasRoom() const { return room != kNoExpr; }
};

struct Kernel {
  const char *name, *display;
  uint64_t flops;
  uint32_t results; // the last buffers of a launch, which it writes; 0: not known
  uint64_t bytes;   // that a launch reads and writes
  // If FLOPs and bytes depend on sizes: expressions in Plan::workExprs, which refer to each other relative to the start
  // of the range, and whose symbols are the sizes of a launch.
  IndexRange work = {};
  uint32_t workFlops = 0, workBytes = 0; // of them
};

struct Instruction {
  fmt::Opcode op;
  uint32_t a, b, c;
  IndexRange buffers; // in Plan::operands
  IndexRange exprs;   // in Plan::sizes
  const char *name;
  bool isLate = false; // a launch whose tiles, sizes or buffers change when instructions bind symbols
  uint32_t iterations =
      0; // of a loop's branch and jump: from which iteration on its condition is the same; 0: not known
};

/// An operand of a host call.
struct HostOperand {
  tenon_dtype dtype;
  uint32_t rank;
  bool isPresent;
};

/// A call of an operator of a plug-in.
struct HostCall {
  const char *plugin, *domain, *name;
  IndexRange inputs, results; // in Plan::hostOperands
  IndexRange attributes;      // in Plan::hostAttributes
  bool infers;                // the shape function, which writes the extents of all results as i64
};

/// A condition on sizes: a run fails if the expression is negative.
struct Check {
  uint32_t expr;
  const char *text;
  bool inPlace = false; // a check instruction evaluates it, not the binding of sizes
};

struct Plan {
  std::vector<Symbol> symbols;
  std::vector<Expr> exprs;
  std::vector<Tensor> inputs, outputs;
  std::vector<State> states; // those of each sequence, in the same order
  std::vector<int64_t> stateDims;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Instruction> instructions;
  std::vector<Check> checks;
  std::vector<HostCall> hostCalls;
  std::vector<HostOperand> hostOperands;
  std::vector<tenon_plugin_attribute> hostAttributes;
  std::vector<uint32_t> dims;      // expressions
  std::vector<uint32_t> operands;  // buffers
  std::vector<uint32_t> sizes;     // expressions
  std::vector<Expr> workExprs;     // of kernels
  uint32_t arenaSize, scratchSize; // expressions
  uint32_t arenaAlign;
  uint64_t stateSize = 0;                     // of one slot
  uint32_t sequences = 1;                     // of a run
  const char *modelName, *compiler, *madeFor; // the last: the sizes that the program is for, empty for all
  uint32_t heapBlocks = 0;
  bool bindsSymbols = false;  // instructions bind some: sizes change during a run
  bool placesBuffers = false; // some buffers have no address before instructions give them one
  // What is recomputed when an instruction binds a symbol: buffers in outputs, in the heap or at data-dependent
  // offsets, operands that refer to them, and sizes. All other addresses and sizes are unchanged.
  std::vector<uint32_t> lateBuffers, lateOperands, lateSizes;
  bool hasLateOutputs = false; ///< whether symbols that instructions bind change how much memory outputs need
  // Buffers in inputs, outputs and states, whose addresses change with every binding and slot, and operands that refer
  // to them.
  std::vector<uint32_t> movingBuffers, movingOperands;

  size_t statesOfSequence() const { return states.size() / sequences; }
  /// Returns how many of the last buffers of a launch or a host call are written; 0 if it is not known.
  uint32_t resultsOf(const Instruction &instruction) const {
    if (instruction.op == fmt::Opcode::launch)
      return kernels[instruction.a].results;
    return hostCalls[instruction.a].infers ? 1 : hostCalls[instruction.a].results.count;
  }

  std::unique_ptr<uint64_t[]> bytes; // the section, copied: the strings above point into it
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_PLAN_H
