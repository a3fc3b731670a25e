//===- ScheduleTests.cpp - alternatives of a schedule ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/kernel/schedules/ScheduleList.h"
#include "passes/kernel/schedules/TileSource.h"
#include <catch2/catch.hpp>
#include <set>

using namespace mlir;
using namespace tenon;

namespace {
struct Fixture {
  Fixture() { context.loadDialect<kernel::KernelDialect>(); }

  /// A product of rows by columns, as a matmul or as lines of an image.
  ScheduleProblem make(std::vector<int64_t> extents, int64_t depth, int64_t panel) {
    ScheduleProblem problem;
    problem.contraction = {};
    problem.contraction.rowLoop = extents.size() - 2;
    problem.contraction.columnLoop = extents.size() - 1;
    problem.contraction.panel = panel > 1 ? panel : 0;
    problem.type = Float32Type::get(&context);
    problem.depth = depth;
    for (int64_t extent : extents) {
      problem.tiles.extents.push_back(extent);
      problem.tiles.hints.push_back(extent);
    }
    problem.tiles.row = extents.size() - 2;
    problem.tiles.column = extents.size() - 1;
    problem.tiles.panel = panel;
    problem.tiles.products = depth;
    problem.hasPackedColumns = false;
    return problem;
  }
  ScheduleDraft getOwn(const ScheduleProblem &problem) {
    ScheduleDraft own;
    own.tile = problem.tiles.panel > 1 ? choosePanelTile(problem.tiles) : choosePlainTile(problem.tiles);
    return own;
  }
  std::vector<ScheduleProblem> getProblems() {
    return {make({512, 3072}, 768, 16), make({1, 56, 56, 64}, 576, 16), make({12, 128, 128}, 64, 1),
            make({1, 4096}, 4096, 16), make({4096, 3072}, 768, 16)};
  }
  kernel::ScheduleAttr finish(const ScheduleDraft &draft) {
    kernel::ScheduleFields fields;
    fields.tile = draft.tile;
    fields.packing = draft.packing.value_or(kernel::Packing::none);
    fields.kBlock = draft.kBlock;
    draft.setFields(fields);
    return kernel::ScheduleAttr::get(&context, fields);
  }

  MLIRContext context;
};
} // namespace

TEST_CASE_METHOD(Fixture, "each source of schedules has an alternative for some product", "[schedules]") {
  std::set<std::string> names;
  for (const auto &source : getScheduleSources()) {
    CAPTURE(source->getName().str());
    CHECK(names.insert(source->getName().str()).second);
    size_t count = 0;
    for (const ScheduleProblem &problem : getProblems()) {
      ScheduleDraft own = getOwn(problem);
      for (const ScheduleProposal &proposal : source->propose(problem, own)) {
        ++count;
        CHECK(proposal.cost > 0);
        CHECK(proposal.draft.tile.size() == own.tile.size());
        for (auto [i, size] : llvm::enumerate(proposal.draft.tile)) {
          CHECK(size > 0);
          CHECK(size <= *problem.tiles.extents[i]);
        }
      }
    }
    CHECK(count > 0);
  }
}

TEST_CASE_METHOD(Fixture, "schedules are listed once, the policy's first, and at most so many", "[schedules]") {
  SchedulePolicy policy;
  for (const ScheduleProblem &problem : getProblems()) {
    ScheduleDraft own = getOwn(problem);
    auto list = [&] {
      return listSchedules(problem, own, [&](const ScheduleDraft &draft) { return finish(draft); }, policy);
    };
    std::vector<ScheduleAlternative> all = list();
    REQUIRE(all.size() > 10);
    CHECK(all.size() <= policy.maxAlternatives);
    CHECK(all.front().schedule == finish(own));
    std::set<std::string> texts;
    double last = 0;
    for (auto [i, alternative] : llvm::enumerate(all)) {
      CAPTURE(printSchedule(alternative.schedule));
      CHECK(texts.insert(printSchedule(alternative.schedule)).second);
      // The text is that of an attribute which the dialect accepts.
      CHECK(parseAttribute(printSchedule(alternative.schedule), &context) == alternative.schedule);
      if (!alternative.parts)
        continue;
      CHECK(alternative.parts->first < alternative.parts->second);
      CHECK(alternative.parts->second < i);
      CHECK(alternative.cost >= last);
      last = alternative.cost;
    }
    std::vector<ScheduleAlternative> again = list();
    REQUIRE(again.size() == all.size());
    for (auto [one, other] : llvm::zip(all, again))
      CHECK(one.schedule == other.schedule);
  }
}

TEST_CASE_METHOD(Fixture, "the policy bounds how many schedules there are", "[schedules]") {
  SchedulePolicy policy;
  policy.maxAlternatives = 7;
  ScheduleProblem problem = getProblems().front();
  CHECK(listSchedules(
            problem, getOwn(problem), [&](const ScheduleDraft &draft) { return finish(draft); }, policy)
            .size() == 7);
}

TEST_CASE_METHOD(Fixture, "sizes of one dimension are multiples of its step, and others stay", "[schedules]") {
  SchedulePolicy policy;
  ScheduleDraft own;
  own.tile = {12, 40, 64};
  auto estimate = [](ArrayRef<int64_t> tile) { return static_cast<double>(tile[1]); };
  auto list = [&](int64_t step, std::optional<int64_t> extent) {
    std::vector<int64_t> sizes;
    for (const ScheduleProposal &proposal : proposeSizes(own, {1, step, extent}, estimate, policy)) {
      CHECK((proposal.draft.tile[0] == 12 && proposal.draft.tile[2] == 64));
      CHECK(proposal.cost == Approx(proposal.draft.tile[1] / 40.0));
      sizes.push_back(proposal.draft.tile[1]);
    }
    return sizes;
  };
  CHECK(list(4, 200) == std::vector<int64_t>{80, 20, 160, 12});
  // Not more than there is, and not less than a step.
  CHECK(list(4, 40) == std::vector<int64_t>{20, 12});
  CHECK(list(40, 100) == std::vector<int64_t>{80, 100});
  CHECK(list(40, std::nullopt) == std::vector<int64_t>{80, 160});
}

TEST_CASE_METHOD(Fixture, "what is not possible is the first schedule, and listed once", "[schedules]") {
  ScheduleDraft own;
  own.tile = {8, 8};
  std::vector<NamedProposal> changes;
  for (std::pair<int64_t, int64_t> size : {std::pair(16, 8), std::pair(32, 8), std::pair(8, 4)}) {
    ScheduleDraft draft = own;
    draft.tile = {size.first, size.second};
    changes.push_back({size.second == 8 ? "rows" : "columns", {draft, 1.5}});
  }
  auto finish = [&](const ScheduleDraft &draft) {
    return makeTileSchedule(&context, draft.tile[0] > 16 ? own.tile : draft.tile);
  };
  std::vector<std::string> texts;
  for (const ScheduleAlternative &alternative : listAlternatives(own, changes, finish))
    texts.push_back(printSchedule(alternative.schedule));
  CHECK(texts == std::vector<std::string>{"#kernel.schedule<tile = [8, 8]>", "#kernel.schedule<tile = [16, 8]>",
                                          "#kernel.schedule<tile = [8, 4]>", "#kernel.schedule<tile = [16, 4]>"});
}

TEST_CASE("a schedule is taken if both figures say that it saves enough", "[schedules]") {
  using Times = std::vector<std::optional<ScheduleTime>>;
  struct Row {
    Times times;
    size_t place;
  };
  const Row table[] = {
      {{}, 0},
      {{std::nullopt}, 0},
      // Nothing is known of the policy's.
      {{std::nullopt, ScheduleTime{1, 1}}, 0},
      {{ScheduleTime{100, 110}}, 0},
      {{ScheduleTime{100, 110}, ScheduleTime{90, 95}}, 1},
      {{ScheduleTime{100, 110}, ScheduleTime{90, 95}, ScheduleTime{80, 90}, std::nullopt}, 2},
      // Too little, or not in the median.
      {{ScheduleTime{100, 110}, ScheduleTime{99, 100}}, 0},
      {{ScheduleTime{100, 110}, ScheduleTime{90, 109}}, 0},
      {{ScheduleTime{100, 110}, ScheduleTime{80, 120}, ScheduleTime{90, 95}}, 2},
  };
  for (const Row &row : table)
    CHECK(pickFastest(row.times, 0.02) == row.place);
}
