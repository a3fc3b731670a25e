//===- ScratchLayoutTests.cpp - regions of a thread's scratch memory ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/FormContractions.h"
#include "passes/kernel/ScratchLayout.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

static constexpr ScratchUse kUses[] = {
    ScratchUse::packedRows,    ScratchUse::packedTile,      ScratchUse::packedFilter, ScratchUse::dequantizedPanel,
    ScratchUse::pmaddWdPanel,  ScratchUse::splitRhs,        ScratchUse::splitLhs,     ScratchUse::winogradWindow,
    ScratchUse::winogradInput, ScratchUse::winogradProducts};

TEST_CASE("regions follow one another at aligned offsets", "[scratch]") {
  struct Row {
    std::vector<int64_t> bytes;   ///< of each region that is added
    std::vector<int64_t> offsets; ///< -1 for no region
    int64_t total;
  };
  const Row table[] = {
      {{}, {}, 0},
      {{0}, {-1}, 0},
      {{1}, {0}, 1},
      {{64}, {0}, 64},
      {{65}, {0}, 65},
      {{1, 1}, {0, 64}, 65},
      {{64, 8}, {0, 64}, 72},
      {{65, 8}, {0, 128}, 136},
      {{0, 8}, {-1, 0}, 8},
      {{8, 0, 8}, {0, -1, 64}, 72},
      {{int64_t(1) << 33, 4}, {0, int64_t(1) << 33}, (int64_t(1) << 33) + 4},
  };
  for (const Row &row : table) {
    CAPTURE(row.bytes);
    ScratchLayout layout;
    for (size_t i = 0; i < row.bytes.size(); ++i)
      layout.add(kUses[i], row.bytes[i]);
    CHECK(layout.getBytes() == row.total);
    for (size_t i = 0; i < row.bytes.size(); ++i) {
      const ScratchRegion *region = layout.find(kUses[i]);
      CHECK((region ? region->offset : -1) == row.offsets[i]);
      CHECK((region ? region->bytes : 0) == row.bytes[i]);
    }
    CHECK(!layout.has(ScratchUse::winogradProducts));
  }
}

namespace {
/// The only contraction of a module: [M, K] x [N / 16, K, 16] of `element`, with a schedule.
class ContractionOfSchedule {
public:
  ContractionOfSchedule(const std::string &element, const std::string &schedule) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, kernel::KernelDialect, linalg::LinalgDialect>();
    bool isWidened = element != "f32";
    std::string text = "func.func @f(%a: tensor<100x256x" + element + ">, %b: tensor<4x256x16xf32>, " +
                       "%c: tensor<100x64xf32>) -> tensor<100x64xf32> {\n" +
                       "%0 = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, " +
                       "affine_map<(m, k, n) -> (n floordiv 16, k, n mod 16)>, affine_map<(m, k, n) -> (m, n)>], " +
                       "iterator_types = [\"parallel\", \"reduction\", \"parallel\"]} " +
                       "ins(%a, %b : tensor<100x256x" + element + ">, tensor<4x256x16xf32>) " +
                       "outs(%c : tensor<100x64xf32>) attrs = {kernel.schedule = #kernel.schedule<" + schedule +
                       ">} {\n^bb0(%x: " + element + ", %y: f32, %z: f32):\n" +
                       (isWidened ? "%w = arith.extf %x : " + element + " to f32\n" : "") + "%p = arith.mulf " +
                       (isWidened ? "%w" : "%x") + ", %y : f32\n%s = arith.addf %z, %p : f32\n" +
                       "linalg.yield %s : f32\n} -> tensor<100x64xf32>\nreturn %0 : tensor<100x64xf32>\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
  }
  ScratchLayout getLayout() {
    linalg::GenericOp generic;
    module->walk([&](linalg::GenericOp found) { generic = found; });
    kernel::ContractOp op = formContraction(generic);
    REQUIRE(op);
    std::optional<Contraction> contraction = readContraction(op);
    REQUIRE(contraction);
    return getScratchLayout(op, *contraction);
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_CASE("the layout of a contraction follows from its operands and its schedule", "[scratch]") {
  struct Row {
    std::string element, schedule;
    std::optional<ScratchUse> use;
    int64_t bytes;
  };
  const Row table[] = {
      {"f32", "tile = [24, 256, 64]", std::nullopt, 0},
      // The last register block may reach 16 rows beyond those of a tile.
      {"f32", "tile = [24, 256, 64], packing = rows", ScratchUse::packedRows, (24 + 16) * 256 * 4},
      {"f16", "tile = [24, 256, 64], packing = rows", ScratchUse::packedRows, (24 + 16) * 256 * 4},
      {"f16", "tile = [24, 256, 64], packing = tile", ScratchUse::packedTile, 24 * 256 * 4},
      {"bf16", "tile = [200, 256, 64], packing = tile", ScratchUse::packedTile, 100 * 256 * 4},
      {"f16", "tile = [24, 256, 64]", std::nullopt, 0},
  };
  for (const Row &row : table) {
    CAPTURE(row.element, row.schedule);
    ScratchLayout layout = ContractionOfSchedule(row.element, row.schedule).getLayout();
    CHECK(layout.getBytes() == row.bytes);
    for (ScratchUse use : kUses)
      CHECK(layout.has(use) == (use == row.use));
  }
}
