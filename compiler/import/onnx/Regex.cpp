//===- Regex.cpp - regular expressions as automata ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tree becomes an automaton with choices on bytes (Thompson 1968), in which a set of code points is the
// UTF-8 sequences of its ranges; that becomes one without (the subset construction). Conditions on what lies
// around a place (^, $, \b) hold or not once the next byte is known, so a state also tells what the last one
// was.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Regex.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/onnx/RegexSyntax.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <map>

using namespace llvm;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

Error unsupported(const Twine &text) { return makeError(CompileStatus::unsupported, text); }

constexpr size_t kMaxChoices = 100'000, kMaxStates = 4096;
/// Upper bound for the visited NFA states in all subset constructions: some tenths of a second.
constexpr size_t kMaxSteps = 4'000'000;

/// Bytes from first to last lead to a state.
struct Edge {
  uint8_t first, last;
  int to;
};

/// When a state is reached without a byte.
enum class Condition { always, begin, end, boundary, notBoundary };

struct Free {
  int to;
  Condition when = Condition::always;
};

struct State {
  std::vector<Edge> edges;
  std::vector<Free> free;
};

/// Builds an NFA. Each part has one start state and one end state.
class Builder {
public:
  Builder() { states.resize(2); }
  Error build(const RegexNode &node, int from, int to);

  std::vector<State> states;

private:
  Error buildSequence(const RegexNode &node, int from, int to);
  Error buildRepeat(const RegexNode &node, int from, int to);
  void addRange(int from, int to, uint32_t first, uint32_t last);
  int addState() {
    states.emplace_back();
    return static_cast<int>(states.size()) - 1;
  }
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

Error Builder::buildSequence(const RegexNode &node, int from, int to) {
  for (const auto &part : node.parts) {
    int next = addState();
    if (Error error = build(*part, from, next))
      return error;
    from = next;
  }
  states[from].free.push_back({to});
  return Error::success();
}

Error Builder::buildRepeat(const RegexNode &node, int from, int to) {
  const RegexNode &part = *node.parts.front();
  int count = std::max(node.min, node.max);
  for (int i = 0; i < count; ++i) {
    if (i >= node.min)
      states[from].free.push_back({to});
    // The last required copy is the one that loops: an additional copy would double the states at each level of nested
    // repetitions.
    bool isLoop = node.max < 0 && i + 1 == count;
    int begin = from;
    if (isLoop) {
      begin = addState();
      states[from].free.push_back({begin});
    }
    int next = addState();
    if (Error error = build(part, begin, next))
      return error;
    if (isLoop)
      states[next].free.push_back({begin});
    from = next;
  }
  if (node.max < 0 && count == 0) {
    int loop = addState();
    states[from].free.push_back({loop});
    if (Error error = build(part, loop, loop))
      return error;
    from = loop;
  }
  states[from].free.push_back({to});
  return Error::success();
}

Error Builder::build(const RegexNode &node, int from, int to) {
  if (states.size() > kMaxChoices)
    return unsupported("repeats too much");
  auto addCondition = [&](Condition when) {
    states[from].free.push_back({to, when});
    return Error::success();
  };
  switch (node.kind) {
  case RegexNode::set:
    for (auto [first, last] : node.ranges)
      addRange(from, to, first, last);
    return Error::success();
  case RegexNode::sequence:
    return buildSequence(node, from, to);
  case RegexNode::repeat:
    return buildRepeat(node, from, to);
  case RegexNode::choice:
    for (const auto &part : node.parts)
      if (Error error = build(*part, from, to))
        return error;
    return Error::success();
  case RegexNode::begin:
    return addCondition(Condition::begin);
  case RegexNode::end:
    return addCondition(Condition::end);
  case RegexNode::boundary:
    return addCondition(Condition::boundary);
  case RegexNode::notBoundary:
    return addCondition(Condition::notBoundary);
  }
  llvm_unreachable("all kinds are above");
}

//===----------------------------------------------------------------------===//
// Without choices
//===----------------------------------------------------------------------===//

namespace {

/// What the last byte was.
enum class Last { none, word, other };

/// A DFA state: the sorted set of NFA states, and the context that determines which conditions hold.
struct Place {
  std::vector<int> states;
  Last last;
  auto operator<=>(const Place &) const = default;
};

bool isWord(int byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

class Determinizer {
public:
  explicit Determinizer(ArrayRef<State> states) : states(states) {}
  Expected<Automaton> run();

private:
  void findClasses();
  std::vector<int> close(std::vector<int> set, llvm::function_ref<bool(Condition)> holds);
  int64_t numberOf(std::vector<int> reached, Last last);
  int64_t follow(const Place &place, uint8_t byte);
  bool accepts(const Place &place);

  ArrayRef<State> states;
  bool hasConditions = false;
  size_t steps = 0; ///< that were taken, see kMaxSteps
  Automaton automaton;
  std::vector<uint8_t> examples; ///< a byte of each class
  std::map<Place, int64_t> numbers;
  std::vector<Place> places;
};

} // namespace

/// Two bytes are in one class if no edge begins or ends between them and, where conditions depend on it, no word
/// boundary.
void Determinizer::findClasses() {
  bool begins[257] = {true};
  for (const State &state : states) {
    for (const Edge &edge : state.edges)
      begins[edge.first] = begins[edge.last + 1] = true;
    hasConditions |= llvm::any_of(state.free, [](Free free) { return free.when != Condition::always; });
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (begins[byte] || (hasConditions && isWord(byte) != isWord(byte - 1)))
      examples.push_back(static_cast<uint8_t>(byte));
    automaton.classes.push_back(static_cast<int64_t>(examples.size()) - 1);
  }
}

/// Returns the epsilon closure of a set under these conditions.
std::vector<int> Determinizer::close(std::vector<int> set, llvm::function_ref<bool(Condition)> holds) {
  std::vector<bool> seen(states.size());
  for (int state : set)
    seen[state] = true;
  steps += states.size() / 1024; // which are marked in a few instructions
  for (size_t i = 0; i < set.size(); ++i, ++steps)
    for (Free free : states[set[i]].free)
      if (!seen[free.to] && (free.when == Condition::always || holds(free.when))) {
        seen[free.to] = true;
        set.push_back(free.to);
      }
  llvm::sort(set);
  return set;
}

int64_t Determinizer::numberOf(std::vector<int> reached, Last last) {
  Place place{close(std::move(reached), [](Condition) { return false; }), hasConditions ? last : Last::none};
  auto [it, isNew] = numbers.try_emplace(std::move(place), places.size());
  if (isNew)
    places.push_back(it->first);
  return it->second;
}

int64_t Determinizer::follow(const Place &place, uint8_t byte) {
  bool isBoundary = (place.last == Last::word) != isWord(byte);
  std::vector<int> from = close(place.states, [&](Condition when) {
    return when == Condition::begin ? place.last == Last::none
                                    : when != Condition::end && (when == Condition::boundary) == isBoundary;
  });
  std::vector<int> reached;
  std::vector<bool> isReached(states.size());
  for (int state : from)
    for (const Edge &edge : states[state].edges)
      if (byte >= edge.first && byte <= edge.last && !isReached[edge.to]) {
        isReached[edge.to] = true;
        reached.push_back(edge.to);
      }
  return numberOf(std::move(reached), isWord(byte) ? Last::word : Last::other);
}

bool Determinizer::accepts(const Place &place) {
  bool isBoundary = place.last == Last::word;
  std::vector<int> reached = close(place.states, [&](Condition when) {
    return when == Condition::begin ? place.last == Last::none
                                    : when == Condition::end || (when == Condition::boundary) == isBoundary;
  });
  return llvm::is_contained(reached, 1);
}

Expected<Automaton> Determinizer::run() {
  findClasses();
  numberOf({0}, Last::none);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places.size() > kMaxStates)
      return unsupported("needs an automaton of more than " + Twine(kMaxStates) + " states");
    if (steps > kMaxSteps)
      return unsupported("needs more than " + Twine(kMaxSteps) + " steps to become an automaton");
    Place place = places[i];
    automaton.accepts.push_back(accepts(place));
    for (uint8_t byte : examples)
      automaton.next.push_back(follow(place, byte));
  }
  return std::move(automaton);
}

Expected<Automaton> onnx_import::compileRegex(StringRef pattern) {
  Expected<std::unique_ptr<RegexNode>> tree = parseRegex(pattern);
  if (!tree)
    return tree.takeError();
  Builder builder;
  if (Error error = builder.build(**tree, 0, 1))
    return error;
  return Determinizer(builder.states).run();
}
