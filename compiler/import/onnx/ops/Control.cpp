//===- Control.cpp - branches and loops that are known when compiling -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

// The dialect has no control flow. A branch whose condition is known is put in place, and a loop that runs a
// known number of times is written out; all else is refused.

namespace {

/// Loops of more iterations are not written out.
constexpr int64_t kMaxIterations = 1024;

ImportedValue toImported(Node &n, Value value) {
  ImportedValue imported;
  imported.value = value;
  imported.type = cast<RankedTensorType>(value.getType());
  imported.loc = n.getLoc();
  return imported;
}

ImportedValue makeConstant(Node &n, int64_t value, Type type) {
  ImportedValue imported;
  imported.type = RankedTensorType::get({}, type);
  imported.constant = makeElements(imported.type, ArrayRef<int64_t>(value));
  imported.loc = n.getLoc();
  return imported;
}

std::optional<int64_t> getConstantElement(const ShapeValue *value) {
  std::optional<Dims> integers = value ? value->getIntegers() : std::nullopt;
  return integers && integers->size() == 1 ? getConstant(integers->front()) : std::nullopt;
}

LogicalResult importIf(Node &n) {
  std::optional<int64_t> condition = getConstantElement(n.known(0));
  if (!condition)
    return n.unsupported("its condition '" + n.inputName(0) + "' is not known when compiling");
  const onnx::GraphProto *graph = n.getGraph(*condition ? "then_branch" : "else_branch");
  SmallVector<ImportedValue *> outputs;
  if (!graph || failed(n.importer.importSubgraph(n, *graph, {}, outputs)))
    return failure();
  return n.importer.bindOutputs(n, outputs);
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

/// What the iterations give for one scanned output: one tensor each, stacked along a new dimension.
using Slices = SmallVector<SmallVector<Value>>;

/// Takes the tensors of one iteration. False where one failed, which has been reported.
bool appendSlices(Node &n, Slices &slices, ArrayRef<ImportedValue *> values) {
  for (auto [list, value] : llvm::zip(slices, values)) {
    Value tensor = n.importer.materialize(*value);
    if (!tensor)
      return false;
    list.push_back(tensor);
  }
  return true;
}

Value stack(Node &n, ArrayRef<Value> slices, int64_t axis) {
  SmallVector<Value> parts;
  for (Value slice : slices)
    parts.push_back(n.unsqueeze(slice, axis));
  return n.concat(parts, axis);
}

/// Sets the outputs: the state after the last iteration, then the stacked slices.
LogicalResult setLoopOutputs(Node &n, ArrayRef<ImportedValue> state, Slices &slices, IntsRef axes) {
  SmallVector<ImportedValue> values(state);
  for (auto [list, axis] : llvm::zip(slices, axes)) {
    if (list.empty())
      return n.unsupported("its body runs no time, so that the shape of what it collects is not known");
    std::optional<int64_t> at = n.normalizeAxis(axis, n.rank(list.front()) + 1);
    Value stacked = at ? stack(n, list, *at) : Value();
    if (!stacked)
      return failure();
    values.push_back(toImported(n, stacked));
  }
  SmallVector<ImportedValue *> pointers;
  for (ImportedValue &value : values)
    pointers.push_back(&value);
  return n.importer.bindOutputs(n, pointers);
}

bool hasFailed(ArrayRef<ImportedValue *> values) {
  return llvm::any_of(values, [](ImportedValue *value) { return value->hasFailed(); });
}

LogicalResult importLoop(Node &n) {
  const onnx::GraphProto *body = n.getGraph("body");
  std::optional<int64_t> trips = n.hasInput(0) ? getConstantElement(n.known(0)) : kMaxIterations + 1;
  std::optional<int64_t> goesOn = n.hasInput(1) ? getConstantElement(n.known(1)) : 1;
  if (!body)
    return failure();
  if (!trips || !goesOn)
    return n.unsupported("how often it runs is not known when compiling");
  SmallVector<ImportedValue> state;
  for (int i = 2; i < n.getProto().input_size(); ++i)
    state.push_back(*n.scope.find(n.inputName(i)));
  int64_t collected = body->output_size() - 1 - static_cast<int64_t>(state.size());
  if (collected < 0)
    return n.invalid("its body has " + Twine(body->output_size()) + " outputs for " + Twine(state.size()) +
                     " values that it carries");
  Slices slices(collected);
  for (int64_t i = 0; i < *trips && *goesOn; ++i) {
    if (i == kMaxIterations)
      return n.unsupported("runs more than " + Twine(kMaxIterations) +
                           " times, which is too often to write it out");
    SmallVector<ImportedValue> inputs{makeConstant(n, i, n.i64()), makeConstant(n, 1, n.i1())};
    inputs.append(state);
    SmallVector<ImportedValue *> outputs;
    if (failed(n.importer.importSubgraph(n, *body, inputs, outputs)) || hasFailed(outputs))
      return failure();
    std::optional<int64_t> next = getConstantElement(n.importer.getKnown(*outputs[0]));
    if (!next)
      return n.unsupported("whether it goes on is known only when it runs");
    goesOn = next;
    for (auto [value, output] : llvm::zip(state, ArrayRef(outputs).drop_front()))
      value = *output;
    if (!appendSlices(n, slices, ArrayRef(outputs).drop_front(1 + state.size())))
      return failure();
  }
  return setLoopOutputs(n, state, slices, Ints(collected, 0));
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

struct ScanInput {
  Value value;
  int64_t axis;
  bool reverse;
};

/// The values that a scan runs over, and how many elements it takes of each.
std::optional<SmallVector<ScanInput>> readScanInputs(Node &n, int64_t count, int64_t &length) {
  int64_t states = static_cast<int64_t>(n.getNumInputs()) - count;
  Ints axes = n.getInts("scan_input_axes").value_or(Ints(count, 0));
  Ints directions = n.getInts("scan_input_directions").value_or(Ints(count, 0));
  if (count < 1 || states < 0 || static_cast<int64_t>(axes.size()) != count ||
      static_cast<int64_t>(directions.size()) != count) {
    (void)n.invalid("'num_scan_inputs' is " + Twine(count) +
                    ", which its inputs, axes or directions do not fit");
    return std::nullopt;
  }
  SmallVector<ScanInput> inputs;
  for (int64_t i = 0; i < count; ++i) {
    Value value = n.input(states + i);
    std::optional<int64_t> axis = n.normalizeAxis(axes[i], n.rank(value));
    if (!axis)
      return std::nullopt;
    std::optional<int64_t> size = getConstant(n.dim(value, *axis));
    if (!size) {
      (void)n.unsupported("runs over a dimension that is not constant; fix it with --shape");
      return std::nullopt;
    }
    length = *size;
    inputs.push_back({value, *axis, directions[i] != 0});
  }
  return inputs;
}

LogicalResult importScan(Node &n) {
  const onnx::GraphProto *body = n.getGraph("body");
  int64_t count = n.getInt("num_scan_inputs", 1), length = 0;
  std::optional<SmallVector<ScanInput>> scanned = body ? readScanInputs(n, count, length) : std::nullopt;
  if (!scanned)
    return failure();
  if (length > kMaxIterations)
    return n.unsupported("runs " + Twine(length) + " times, which is too often to write it out");
  SmallVector<ImportedValue> state;
  for (size_t i = 0; i + count < n.getNumInputs(); ++i)
    state.push_back(*n.scope.find(n.inputName(i)));
  int64_t collected = body->output_size() - static_cast<int64_t>(state.size());
  Ints axes = n.getInts("scan_output_axes").value_or(Ints(std::max<int64_t>(collected, 0), 0));
  Ints directions = n.getInts("scan_output_directions").value_or(Ints(axes.size(), 0));
  if (collected < 0 || static_cast<int64_t>(axes.size()) != collected || directions.size() != axes.size())
    return n.invalid("its body has " + Twine(body->output_size()) +
                     " outputs, which its states or output axes do "
                     "not fit");
  Slices slices(collected);
  for (int64_t t = 0; t < length; ++t) {
    SmallVector<ImportedValue> inputs(state);
    for (const ScanInput &s : *scanned) {
      AffineExpr at = n.constantDim(s.reverse ? length - 1 - t : t);
      Value slice = n.squeeze(n.sliceAxis(s.value, s.axis, at, n.constantDim(1)), s.axis);
      if (!slice)
        return failure();
      inputs.push_back(toImported(n, slice));
    }
    SmallVector<ImportedValue *> outputs;
    if (failed(n.importer.importSubgraph(n, *body, inputs, outputs)) || hasFailed(outputs))
      return failure();
    for (auto [value, output] : llvm::zip(state, outputs))
      value = *output;
    if (!appendSlices(n, slices, ArrayRef(outputs).drop_front(state.size())))
      return failure();
  }
  for (auto [list, direction] : llvm::zip(slices, directions))
    if (direction != 0)
      std::reverse(list.begin(), list.end());
  return setLoopOutputs(n, state, slices, axes);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getControlOps() {
  static const OpEntry ops[] = {
      {"If", importIf},
      {"Loop", importLoop},
      {"Scan", importScan, 9},
  };
  return ops;
}
