//===- Regex.cpp - regular expressions as automata ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tree becomes an automaton with choices on bytes (Thompson 1968), in which a set of code points is the UTF-8
// sequences of its ranges; that becomes one without (the subset construction).
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Regex.h"
#include "compiler/import/onnx/RegexSyntax.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>

using namespace llvm;
using namespace tenon::onnx_import;

namespace {

constexpr size_t kMaxChoices = 100'000, kMaxStates = 4096;

/// Bytes from first to last lead to a state.
struct Edge {
  uint8_t first, last;
  int to;
};

struct State {
  std::vector<Edge> edges;
  std::vector<int> free; ///< states that are reached without a byte
};

/// An automaton with choices. What is built begins in one state and ends in another.
class Builder {
public:
  explicit Builder(std::string &error) : error(error) { states.resize(2); }
  /// `isFirst`, `isLast`: nothing of the text lies before, or behind, what the node matches.
  bool build(const RegexNode &node, int from, int to, bool isFirst, bool isLast);

  std::vector<State> states;

private:
  bool buildSequence(const RegexNode &node, int from, int to, bool isFirst, bool isLast);
  bool buildRepeat(const RegexNode &node, int from, int to, bool isFirst, bool isLast);
  void addRange(int from, int to, uint32_t first, uint32_t last);
  int addState() {
    states.emplace_back();
    return static_cast<int>(states.size()) - 1;
  }

  std::string &error;
};

SmallVector<uint8_t, 4> encode(uint32_t code) {
  if (code < 0x80)
    return {static_cast<uint8_t>(code)};
  unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  SmallVector<uint8_t, 4> bytes{static_cast<uint8_t>((0xff00 >> (more + 1)) | code >> (6 * more))};
  for (; more > 0; --more)
    bytes.push_back(0x80 | (code >> (6 * (more - 1)) & 0x3f));
  return bytes;
}

} // namespace

/// Splits a range until its sequences are all combinations of a range for each byte.
void Builder::addRange(int from, int to, uint32_t first, uint32_t last) {
  auto split = [&](uint32_t at) {
    addRange(from, to, first, at);
    addRange(from, to, at + 1, last);
  };
  for (uint32_t end : {0x7f, 0x7ff, 0xffff})
    if (first <= end && end < last)
      return split(end);
  for (unsigned i = 1; last >= 0x80 && i < 4; ++i) {
    uint32_t low = (1u << 6 * i) - 1;
    if ((first & ~low) == (last & ~low))
      break;
    if ((first & low) != 0)
      return split(first | low);
    if ((last & low) != low)
      return split((last & ~low) - 1);
  }
  SmallVector<uint8_t, 4> begin = encode(first), end = encode(last);
  for (size_t i = 0; i < begin.size(); ++i) {
    int next = i + 1 < begin.size() ? addState() : to;
    states[from].edges.push_back({begin[i], end[i], next});
    from = next;
  }
}

bool Builder::buildSequence(const RegexNode &node, int from, int to, bool isFirst, bool isLast) {
  for (size_t i = 0; i < node.parts.size(); ++i) {
    int next = addState();
    if (!build(*node.parts[i], from, next, isFirst && i == 0, isLast && i + 1 == node.parts.size()))
      return false;
    from = next;
  }
  states[from].free.push_back(to);
  return true;
}

bool Builder::buildRepeat(const RegexNode &node, int from, int to, bool isFirst, bool isLast) {
  const RegexNode &part = *node.parts.front();
  bool once = node.max == 1;
  for (int i = 0; i < std::max(node.min, node.max); ++i) {
    if (i >= node.min)
      states[from].free.push_back(to);
    int next = addState();
    if (!build(part, from, next, isFirst && once, isLast && once))
      return false;
    from = next;
  }
  if (node.max < 0) {
    int loop = addState();
    states[from].free.push_back(loop);
    if (!build(part, loop, loop, false, false))
      return false;
    from = loop;
  }
  states[from].free.push_back(to);
  return true;
}

bool Builder::build(const RegexNode &node, int from, int to, bool isFirst, bool isLast) {
  if (states.size() > kMaxChoices) {
    error = "repeats too much";
    return false;
  }
  switch (node.kind) {
  case RegexNode::set:
    for (auto [first, last] : node.ranges)
      addRange(from, to, first, last);
    return true;
  case RegexNode::sequence:
    return buildSequence(node, from, to, isFirst, isLast);
  case RegexNode::repeat:
    return buildRepeat(node, from, to, isFirst, isLast);
  case RegexNode::choice:
    return llvm::all_of(node.parts, [&](const auto &part) { return build(*part, from, to, isFirst, isLast); });
  case RegexNode::begin:
  case RegexNode::end:
    if (node.kind == RegexNode::begin ? !isFirst : !isLast) {
      error = "has a '^' or '$' in the middle, which is not supported";
      return false;
    }
    states[from].free.push_back(to);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Without choices
//===----------------------------------------------------------------------===//

namespace {

/// States in which the automaton with choices may be at once, in order.
using Set = std::vector<int>;

class Determinizer {
public:
  explicit Determinizer(ArrayRef<State> states) : states(states) {}
  std::optional<Automaton> run(std::string &error);

private:
  void findClasses();
  Set close(Set set) const;
  int64_t numberOf(Set set);

  ArrayRef<State> states;
  Automaton automaton;
  std::vector<uint8_t> examples; ///< a byte of each class
  std::map<Set, int64_t> numbers;
  std::vector<Set> sets;
};

} // namespace

/// Bytes are of one class where no edge begins or ends between them.
void Determinizer::findClasses() {
  bool begins[257] = {true};
  for (const State &state : states)
    for (const Edge &edge : state.edges)
      begins[edge.first] = begins[edge.last + 1] = true;
  for (int byte = 0; byte < 256; ++byte) {
    if (begins[byte])
      examples.push_back(static_cast<uint8_t>(byte));
    automaton.classes.push_back(static_cast<int64_t>(examples.size()) - 1);
  }
}

/// The set with all that is reached from it without a byte.
Set Determinizer::close(Set set) const {
  std::vector<bool> seen(states.size());
  for (int state : set)
    seen[state] = true;
  for (size_t i = 0; i < set.size(); ++i)
    for (int to : states[set[i]].free)
      if (!seen[to]) {
        seen[to] = true;
        set.push_back(to);
      }
  llvm::sort(set);
  return set;
}

int64_t Determinizer::numberOf(Set set) {
  auto [it, isNew] = numbers.try_emplace(std::move(set), sets.size());
  if (isNew)
    sets.push_back(it->first);
  return it->second;
}

std::optional<Automaton> Determinizer::run(std::string &error) {
  findClasses();
  numberOf(close({0}));
  for (size_t i = 0; i < sets.size(); ++i) {
    if (sets.size() > kMaxStates) {
      error = "needs an automaton of more than " + std::to_string(kMaxStates) + " states";
      return std::nullopt;
    }
    Set set = sets[i];
    automaton.accepts.push_back(llvm::is_contained(set, 1));
    for (uint8_t byte : examples) {
      Set next;
      for (int state : set)
        for (const Edge &edge : states[state].edges)
          if (byte >= edge.first && byte <= edge.last && !llvm::is_contained(next, edge.to))
            next.push_back(edge.to);
      automaton.next.push_back(numberOf(close(std::move(next))));
    }
  }
  return std::move(automaton);
}

std::optional<Automaton> tenon::onnx_import::compileRegex(StringRef pattern, std::string &error) {
  std::unique_ptr<RegexNode> tree = parseRegex(pattern, error);
  Builder builder(error);
  if (!tree || !builder.build(*tree, 0, 1, true, true))
    return std::nullopt;
  return Determinizer(builder.states).run(error);
}
