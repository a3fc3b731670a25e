//===- HostCalls.cpp - operators that plug-ins compute ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Session.h"

#include <cassert>
#include <cstdio>
#include <cstring>

namespace tenon::rt {

/// Describes the next operands of a call, from `operand` and `expr` on, each of which must fit its buffer.
Status Session::setOperands(const Instruction &instruction, IndexRange range, uint32_t &operand, uint32_t &expr,
                            std::vector<tenon_plugin_tensor> &tensors) {
  tensors.clear();
  for (uint32_t i = range.begin; i < range.begin + range.count; ++i) {
    const HostOperand &wanted = plan.hostOperands[i];
    tenon_plugin_tensor tensor{};
    if (wanted.isPresent) {
      int64_t *shape = &bound->sizes[instruction.exprs.begin + expr];
      uint64_t bytes = tenon_tensor_bytes(wanted.dtype, wanted.rank, shape);
      if (bytes > uint64_t(INT64_MAX) || bytes > sizeOf(instruction.buffers.begin + operand))
        return operandTooSmall(instruction, operand, int64_t(bytes));
      uint32_t width = (tenon_dtype_bits(wanted.dtype) + 7) / 8;
      tensor = {wanted.dtype,  wanted.rank, shape, bound->operands[instruction.buffers.begin + operand],
                bytes / width, width,       1};
      ++operand;
      expr += wanted.rank;
    }
    tensors.push_back(tensor);
  }
  return {};
}

/// Lets the operator infer the shapes of its results, and stores their concatenated extents.
Status Session::inferShapes(const Instruction &instruction, tenon_plugin_call &call) {
  const HostCall &host = plan.hostCalls[instruction.a];
  hostDims.assign(size_t(host.results.count) * TENON_PLUGIN_MAX_RANK, TENON_DIM_UNKNOWN);
  hostOutputs.clear();
  for (uint32_t i = 0; i < host.results.count; ++i) {
    const HostOperand &wanted = plan.hostOperands[host.results.begin + i];
    hostOutputs.push_back({wanted.dtype, wanted.rank, &hostDims[size_t(i) * TENON_PLUGIN_MAX_RANK], nullptr, 0, 0, 1});
  }
  call.outputs = hostOutputs.data();
  char what[256];
  snprintf(what, sizeof what, "node '%s'", instruction.name);
  TENON_TRY(callOperator(program.operators[instruction.a]->infer, &call, what, host.plugin));
  assert(instruction.buffers.count > 0 && "a call that infers shapes has a buffer for them");
  uint32_t target = instruction.buffers.begin + instruction.buffers.count - 1;
  auto *extents = static_cast<int64_t *>(bound->operands[target]);
  uint64_t count = 0;
  for (uint32_t i = 0; i < host.results.count; ++i) {
    const HostOperand &wanted = plan.hostOperands[host.results.begin + i];
    const tenon_plugin_tensor &found = hostOutputs[i];
    const int64_t *shape = &hostDims[size_t(i) * TENON_PLUGIN_MAX_RANK];
    if (found.dtype != wanted.dtype || found.rank != wanted.rank)
      return Status::make(
          TENON_INVALID, "%s: plug-in '%s' gives result %u as %s of rank %u, the model was compiled for %s of rank %u",
          what, host.plugin, i, tenon_dtype_name(found.dtype), found.rank, tenon_dtype_name(wanted.dtype), wanted.rank);
    if (tenon_tensor_bytes(found.dtype, found.rank, shape) > uint64_t(INT64_MAX))
      return Status::make(TENON_INVALID, "%s: plug-in '%s' gives result %u a shape that no tensor has", what,
                          host.plugin, i);
    if (sizeOf(target) < (count + wanted.rank) * sizeof(int64_t))
      return operandTooSmall(instruction, instruction.buffers.count - 1,
                             int64_t((count + wanted.rank) * sizeof(int64_t)));
    memcpy(extents + count, shape, wanted.rank * sizeof(int64_t));
    count += wanted.rank;
  }
  return {};
}

Status Session::runHostCall(const Instruction &instruction) {
  assert(instruction.a < plan.hostCalls.size() && instruction.a < program.operators.size() &&
         "a call names an operator that was found when the artifact was loaded");
  const HostCall &host = plan.hostCalls[instruction.a];
  uint32_t operand = 0, expr = 0;
  TENON_TRY(setOperands(instruction, host.inputs, operand, expr, hostInputs));
  tenon_plugin_call call{};
  call.input_count = uint32_t(hostInputs.size());
  call.inputs = hostInputs.data();
  call.output_count = host.results.count;
  call.attribute_count = host.attributes.count;
  call.attributes = plan.hostAttributes.data() + host.attributes.begin;
  call.memory_limit = limit;
  if (host.infers)
    return inferShapes(instruction, call);
  TENON_TRY(setOperands(instruction, host.results, operand, expr, hostOutputs));
  // Outputs are zeroed, so that bytes which a plug-in leaves unset do not expose earlier data.
  for (const tenon_plugin_tensor &output : hostOutputs)
    if (output.count)
      memset(output.data, 0, output.count * output.element_bytes);
  call.outputs = hostOutputs.data();
  char what[256];
  snprintf(what, sizeof what, "node '%s'", instruction.name);
  return callOperator(program.operators[instruction.a]->run, &call, what, host.plugin);
}

} // namespace tenon::rt
