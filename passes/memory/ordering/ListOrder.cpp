//===- ListOrder.cpp - an order, one node after the other -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/ordering/ListOrder.h"
#include <algorithm>
#include <cassert>
#include <set>
#include <tuple>

using namespace tenon::ordering;

namespace {

class ListScheduler {
public:
  ListScheduler(const Program &program, Preference preference)
      : program(program), preference(preference), schedule(program), keys(program.getNodeCount()),
        readySince(program.getNodeCount()) {
    for (uint32_t node : schedule.getReady())
      addReady(node);
  }

  Order makeOrder() {
    Order order;
    while (!queue.empty()) {
      uint32_t node = std::get<3>(*queue.begin());
      queue.erase(queue.begin());
      order.push_back(node);
      run(node);
    }
    assert(order.size() == program.getNodeCount() && "each node becomes ready once those before it have run");
    return order;
  }

private:
  using Key = std::tuple<int64_t, int64_t, int64_t, uint32_t>;

  Key makeKey(uint32_t node) const {
    Effect effect = schedule.getEffect(node);
    int64_t delta = effect.getDelta();
    switch (preference) {
    case Preference::delta:
      return {delta, effect.allocated, 0, node};
    case Preference::allocated:
      return {effect.allocated, delta, 0, node};
    case Preference::depth:
      return {delta > 0, delta > 0 ? -readySince[node] : delta, delta, node};
    }
    return {};
  }

  void addReady(uint32_t node) {
    assert(readySince[node] == 0 && "a node becomes ready once");
    readySince[node] = time;
    keys[node] = makeKey(node);
    queue.insert(keys[node]);
  }

  void run(uint32_t node) {
    std::vector<uint32_t> wereLive;
    for (uint32_t buffer : program.uses[node])
      if (schedule.isLive(buffer))
        wereLive.push_back(buffer);
    ++time;
    schedule.run(node);
    for (uint32_t dependent : program.dependents[node])
      if (schedule.isReady(dependent) && readySince[dependent] == 0)
        addReady(dependent);
    // Others that use a buffer do something else now if it became live, or if one of them is its last user.
    for (uint32_t buffer : program.uses[node])
      if (std::find(wereLive.begin(), wereLive.end(), buffer) == wereLive.end() || schedule.getUsesLeft(buffer) == 1)
        for (uint32_t user : program.users[buffer])
          update(user);
  }

  void update(uint32_t node) {
    if (queue.erase(keys[node])) {
      keys[node] = makeKey(node);
      queue.insert(keys[node]);
    }
  }

  const Program &program;
  Preference preference;
  Schedule schedule;
  std::vector<Key> keys;
  std::vector<int64_t> readySince; // 0 where a node is not ready
  std::set<Key> queue;
  int64_t time = 1;
};

} // namespace

Order tenon::ordering::makeListOrder(const Program &program, Preference preference) {
  return ListScheduler(program, preference).makeOrder();
}
