//===- Permutations.cpp - permute the units of a few vector registers -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/transposes/CopyBuilder.h"
#include "passes/kernel/transposes/Shuffles.h"
#include "passes/kernel/transposes/Transposes.h"

using namespace mlir;
using namespace tenon;

/// Returns the units of a vector that is permuted; units of 8 and 16 bits must not cross lanes.
static int64_t countUnits(const StridedCopy &copy, int64_t vectorBytes) {
  int64_t bits = copy.getUnitBits();
  return bits >= copy.policy.wideBits ? vectorBytes * 8 / bits : kLaneBits / bits;
}

namespace {
/// Where vectors of as many units are, by side.
struct VectorPlaces {
  SmallVector<Value> at[2];
};
} // namespace

/// Reads vectors, and writes vectors whose units are those that `getSource` returns for each vector and unit of the
/// output.
static void emitPermutation(CopyBuilder &builder, const VectorPlaces &places, int64_t units,
                            llvm::function_ref<VectorUnit(int64_t, int64_t)> getSource) {
  Shuffles shuffles(builder.b, builder.loc, builder.wordsPerUnit);
  SmallVector<Value> vectors;
  for (Value place : places.at[kInput])
    vectors.push_back(builder.loadUnits(units, place));
  for (auto [i, place] : llvm::enumerate(places.at[kOutput])) {
    int64_t vector = i;
    builder.storeUnits(shuffles.gather(vectors, units, [&](int64_t unit) { return getSource(vector, unit); }), place);
  }
}

//===----------------------------------------------------------------------===//
// Dense boxes
//===----------------------------------------------------------------------===//

/// Lists the position in the input of each unit of a box, in the order of the output.
static SmallVector<int64_t> getInputPositions(const StridedCopy &copy, const DenseBox &box) {
  SmallVector<int64_t> positions(box.size);
  for (int64_t position = 0; position < box.size; ++position) {
    int64_t rest = position, output = 0;
    for (unsigned loop : box.loops) {
      output += rest % copy.loops[loop].extent * copy.loops[loop].strides[kOutput] / copy.unit;
      rest /= copy.loops[loop].extent;
    }
    positions[output] = position;
  }
  return positions;
}

/// If the box is not a multiple of vectors, the last vector overlaps the one before it.
static void emitBox(const StridedCopy &copy, const DenseBox &box, int64_t units) {
  CopyBuilder builder(copy);
  SmallVector<int64_t> positions = getInputPositions(copy, box), begins;
  for (int64_t begin = 0; begin < box.size; begin += units)
    begins.push_back(std::min(begin, box.size - units));
  builder.forLoops(builder.getOthers(box.loops), builder.start, [&](Places places) {
    VectorPlaces vectors;
    for (Side side : kSides)
      for (int64_t begin : begins)
        vectors.at[side].push_back(builder.add(places.at[side], builder.constant(begin * copy.unit)));
    emitPermutation(builder, vectors, units, [&](int64_t vector, int64_t unit) {
      int64_t position = positions[begins[vector] + unit], source = position / units;
      return VectorUnit{source, position - begins[source]};
    });
  });
}

//===----------------------------------------------------------------------===//
// Few rows and columns
//===----------------------------------------------------------------------===//

namespace {
/// A long loop `along` with at most one short loop per side inside it, which the other side has at another level:
/// `counts` are the extents of the short loops, or 1.
struct Strip {
  unsigned along;
  std::optional<unsigned> few[2];
  int64_t counts[2] = {1, 1};
};
} // namespace

static std::optional<Strip> findStrip(const StridedCopy &copy, int64_t units) {
  unsigned inner[2] = {copy.orders[kInput][0], copy.orders[kOutput][0]};
  auto tryLoop = [&](unsigned along) -> std::optional<Strip> {
    Strip strip{along, {}};
    for (Side side : kSides) {
      if (inner[side] == along)
        continue;
      strip.few[side] = inner[side];
      strip.counts[side] = copy.loops[inner[side]].extent;
      if (ShapedType::isDynamic(strip.counts[side]))
        return std::nullopt;
    }
    int64_t length = copy.loops[along].extent, vectors = strip.counts[kInput] * strip.counts[kOutput];
    // LLVM interleaves rows of 8 and 16 bits better.
    bool isWide = copy.getUnitBits() >= copy.policy.wideBits,
         isNarrow = strip.few[kInput] && !strip.few[kOutput] && vectors <= copy.policy.maxNarrowVectors;
    bool continues = llvm::all_of(
        kSides, [&](Side side) { return copy.loops[along].strides[side] == strip.counts[side] * copy.unit; });
    if (!continues || !(isWide ? vectors <= copy.policy.maxPermutedVectors : isNarrow) ||
        (!ShapedType::isDynamic(length) && length < units))
      return std::nullopt;
    return strip;
  };
  SmallVector<unsigned> candidates{inner[kInput], inner[kOutput]};
  for (Side side : kSides)
    candidates.push_back(copy.orders[side].size() > 1 ? copy.orders[side][1] : inner[side]);
  for (unsigned along : candidates)
    if (std::optional<Strip> strip = tryLoop(along))
      return strip;
  return std::nullopt;
}

/// Moves the vectors of each side that cover the same positions of the long loop.
static void emitStrip(const StridedCopy &copy, const Strip &strip, int64_t units) {
  CopyBuilder builder(copy);
  const RunLoop &along = builder.loops[strip.along];
  SmallVector<unsigned> taken{strip.along};
  for (Side side : kSides)
    if (strip.few[side])
      taken.push_back(*strip.few[side]);
  // A contiguous range on one side is several rows on the other.
  auto getPlaces = [&](Side side, Value place, Value position) {
    Side other = side == kInput ? kOutput : kInput;
    SmallVector<Value> places;
    Value base = builder.add(place, builder.mul(position, builder.constant(strip.counts[side] * copy.unit)));
    for (int64_t row = 0; row < strip.counts[other]; ++row)
      for (int64_t i = 0; i < strip.counts[side]; ++i) {
        Value offset = strip.few[other]
                           ? builder.mul(builder.constant(row), builder.loops[*strip.few[other]].strides[side])
                           : builder.constant(0);
        places.push_back(builder.add(base, builder.add(offset, builder.constant(i * units * copy.unit))));
      }
    return places;
  };
  int64_t columns = strip.counts[kInput], rows = strip.counts[kOutput];
  auto getSource = [&](int64_t vector, int64_t unit) {
    int64_t column = vector / rows, position = vector % rows * units + unit, row = position % rows,
            input = position / rows * columns + column;
    return VectorUnit{row * columns + input / units, input % units};
  };
  auto emit = [&] {
    builder.forLoops(builder.getOthers(taken), builder.start, [&](Places places) {
      builder.forSteps(along.extent, units, [&](Value position) {
        VectorPlaces vectors;
        for (Side side : kSides)
          vectors.at[side] = getPlaces(side, places.at[side], position);
        emitPermutation(builder, vectors, units, getSource);
      });
    });
  };
  builder.ifElse(builder.isAtLeast(along.extent, units), emit,
                 [&] { builder.moveUnits(builder.loops, builder.start); });
}

bool tenon::permuteRegisters(const StridedCopy &copy, int64_t vectorBytes) {
  int64_t units = countUnits(copy, vectorBytes);
  if (units < 2)
    return false;
  if (std::optional<DenseBox> box = copy.findDenseBox(copy.policy.maxPermutedVectors * units); box && box->size > 2) {
    emitBox(copy, *box, std::min<int64_t>(units, llvm::bit_floor(uint64_t(box->size))));
    return true;
  }
  if (std::optional<Strip> strip = findStrip(copy, units)) {
    emitStrip(copy, *strip, units);
    return true;
  }
  return false;
}
