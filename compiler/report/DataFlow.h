//===- DataFlow.h - which instructions read what others write --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_DATAFLOW_H
#define TENON_COMPILER_REPORT_DATAFLOW_H

#include "compiler/report/GraphLayout.h"
#include "runtime/plan/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace tenon {

/// The data flow of a plan as a graph: its inputs, then its instructions, then its outputs.
struct DataFlow {
  uint32_t numInputs = 0, numInstructions = 0, numOutputs = 0;
  std::vector<GraphEdge> edges; ///< each once, in order
  bool isComplete = true;       ///< false for a plan of which it would take too long to find all edges

  uint32_t getInstruction(uint32_t index) const { return numInputs + index; }
  uint32_t getOutput(uint32_t index) const { return numInputs + numInstructions + index; }
  uint32_t getCount() const { return numInputs + numInstructions + numOutputs; }
};

/// Each instruction reads the last data that was written, in list order, to the bytes of its operands. Jumps are not
/// followed, so a loop looks like its first iteration. If the offset of a buffer is unknown, only its own writers and
/// readers are connected; in a heap block, all writers and readers of the block. `getConstant` returns the value of an
/// expression, if it is known.
DataFlow findDataFlow(const rt::Plan &plan, llvm::function_ref<std::optional<int64_t>(uint32_t)> getConstant);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_DATAFLOW_H
