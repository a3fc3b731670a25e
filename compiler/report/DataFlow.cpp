//===- DataFlow.cpp - which instructions read what others write ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/DataFlow.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace tenon;
using rt::Storage;

/// limit: visited writers, for a file in which each instruction reads what all others write.
static constexpr uint64_t kMaxSteps = 1'000'000;

namespace {
/// A space of addresses: the arena, a heap block, an output; or a single buffer.
using Space = std::tuple<Storage, uint32_t, bool>;

/// The last writer of each byte of a space, as disjoint ranges keyed by their start, and the writers at unknown
/// offsets.
class Writers {
public:
  void clear() {
    ranges.clear();
    anywhere.clear();
  }
  void writeAnywhere(uint32_t writer) { anywhere.insert(writer); }
  void write(uint64_t begin, uint64_t end, uint32_t writer) {
    if (begin >= end)
      return;
    splitAt(begin);
    splitAt(end);
    ranges.erase(ranges.lower_bound(begin), ranges.lower_bound(end));
    ranges[begin] = {end, writer};
  }
  void read(uint64_t begin, uint64_t end, llvm::function_ref<void(uint32_t)> addWriter) const {
    auto it = ranges.upper_bound(begin);
    if (it != ranges.begin())
      --it;
    for (; it != ranges.end() && it->first < end; ++it)
      if (it->second.first > begin)
        addWriter(it->second.second);
    llvm::for_each(anywhere, addWriter);
  }

private:
  void splitAt(uint64_t at) {
    auto it = ranges.lower_bound(at);
    if (it == ranges.begin())
      return;
    auto &[end, writer] = std::prev(it)->second;
    if (end <= at)
      return;
    ranges[at] = {end, writer};
    end = at;
  }

  std::map<uint64_t, std::pair<uint64_t, uint32_t>> ranges; // {end, writer}
  std::set<uint32_t> anywhere;
};

class Finder {
public:
  Finder(const rt::Plan &plan, llvm::function_ref<std::optional<int64_t>(uint32_t)> getConstant)
      : plan(plan), getConstant(getConstant) {}
  DataFlow run();

private:
  struct Place {
    Space space;
    uint64_t begin, end;
    bool isKnown = true; ///< otherwise it is somewhere between these
  };
  Place getPlace(uint32_t buffer) const;
  void visit(uint32_t index);
  void addReads(const Place &place, uint32_t reader);

  const rt::Plan &plan;
  llvm::function_ref<std::optional<int64_t>(uint32_t)> getConstant;
  DataFlow flow;
  std::map<Space, Writers> memory;
  std::set<GraphEdge> edges;
  uint64_t steps = 0;
};
} // namespace

Finder::Place Finder::getPlace(uint32_t index) const {
  const rt::Buffer &buffer = plan.buffers[index];
  bool isCallers = buffer.storage == Storage::input || buffer.storage == Storage::output;
  // Rows of a state lie where its symbols say.
  bool isBlock = buffer.storage == Storage::heap || buffer.storage == Storage::state;
  uint32_t block = isCallers || isBlock ? buffer.index : 0;
  auto offset = getConstant(buffer.offset), size = getConstant(buffer.size);
  if (offset && size && *offset >= 0 && *size >= 0)
    return {{buffer.storage, block, true}, uint64_t(*offset), uint64_t(*offset) + uint64_t(*size)};
  // Buffers of a caller's tensor are usually the whole tensor, and those of a heap block are parts of one tensor.
  if (isCallers || isBlock)
    return {{buffer.storage, block, true}, 0, UINT64_MAX, isCallers};
  return {{buffer.storage, index, false}, 0, 1};
}

void Finder::addReads(const Place &place, uint32_t reader) {
  auto it = memory.find(place.space);
  if (it == memory.end())
    return;
  flow.isComplete &= steps < kMaxSteps;
  if (flow.isComplete)
    it->second.read(place.begin, place.end, [&](uint32_t writer) {
      edges.insert({writer, reader});
      ++steps;
    });
}

void Finder::visit(uint32_t index) {
  const rt::Instruction &instruction = plan.instructions[index];
  const char *buffers = fmt::kInstructions[uint32_t(instruction.op)].buffers;
  uint32_t count = instruction.buffers.count, node = flow.getInstruction(index);
  // If a kernel does not declare how many of its buffers it writes, it may read and write all.
  uint32_t results = *buffers == '*' ? plan.resultsOf(instruction) : 0;
  auto isRead = [&](uint32_t i) { return *buffers == '*' ? !results || i < count - results : buffers[i] == 'r'; };
  auto isWritten = [&](uint32_t i) { return *buffers == '*' ? !results || i >= count - results : buffers[i] == 'w'; };
  for (bool reads : {true, false})
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t buffer = plan.operands[instruction.buffers.begin + i];
      if (plan.buffers[buffer].storage == Storage::weight)
        continue;
      Place place = getPlace(buffer);
      if (reads && isRead(i))
        addReads(place, node);
      else if (!reads && isWritten(i) && place.isKnown)
        memory[place.space].write(place.begin, place.end, node);
      else if (!reads && isWritten(i))
        memory[place.space].writeAnywhere(node);
    }
  // Field b: whether the block keeps what it holds.
  if (instruction.op == fmt::Opcode::reserve && !instruction.b)
    memory[{Storage::heap, instruction.a, true}].clear();
}

DataFlow Finder::run() {
  flow.numInputs = plan.inputs.size();
  flow.numInstructions = plan.instructions.size();
  flow.numOutputs = plan.outputs.size();
  for (uint32_t i = 0; i < flow.numInputs; ++i)
    memory[{Storage::input, i, true}].write(0, UINT64_MAX, i);
  for (uint32_t i = 0; i < flow.numInstructions; ++i)
    visit(i);
  for (uint32_t i = 0; i < flow.numOutputs; ++i)
    addReads({{Storage::output, i, true}, 0, UINT64_MAX}, flow.getOutput(i));
  flow.edges.assign(edges.begin(), edges.end());
  return std::move(flow);
}

DataFlow tenon::findDataFlow(const rt::Plan &plan, llvm::function_ref<std::optional<int64_t>(uint32_t)> getConstant) {
  return Finder(plan, getConstant).run();
}
