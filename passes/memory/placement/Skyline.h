//===- Skyline.h - the state of a search for places -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_SKYLINE_H
#define TENON_PASSES_MEMORY_PLACEMENT_SKYLINE_H

#include "passes/memory/placement/Instance.h"
#include <span>

namespace tenon::placement {

/// Columns [begin, end) of time.
struct Segment {
  uint32_t begin, end;
};

/// The height to which each column of time is filled, and the items that remain to be placed. Changes can be undone.
class Skyline {
public:
  struct Item {
    uint32_t begin, end; ///< columns
    int64_t size;
    uint32_t buffer;
    double preference; ///< larger ones are tried first
    bool isPlaced = false;
  };

  explicit Skyline(const Instance &instance);

  /// Empties the skyline, and gives each buffer a preference.
  void restart(const std::vector<double> &preferences);

  size_t getMark() const { return trail.size(); }
  void undoTo(size_t mark);

  /// Places an item on the columns that it covers, which must have the same height.
  void place(uint32_t item);
  /// Gives up the space between the height of a column and `height`.
  void raise(uint32_t column, int64_t height);

  uint32_t getColumnCount() const { return static_cast<uint32_t>(columns.size()); }
  int64_t getHeight(uint32_t column) const { return columns[column].height; }
  /// Returns the total size of the items that remain to be placed on a column.
  int64_t getRest(uint32_t column) const { return columns[column].rest; }
  /// True if no remaining item spans the boundary at the column's beginning.
  bool isCut(uint32_t column) const { return columns[column].crossing == 0; }

  const Item &getItem(uint32_t item) const { return items[item]; }
  /// Returns the items that begin in these columns, as a range of numbers [first, last).
  std::pair<uint32_t, uint32_t> getItems(Segment segment) const {
    return {columns[segment.begin].firstItem,
            segment.end < columns.size() ? columns[segment.end].firstItem : static_cast<uint32_t>(items.size())};
  }

  /// The offsets of what is placed, by buffer.
  const std::vector<int64_t> &getOffsets() const { return offsets; }

  /// Except for collisions, equal hashes of a segment mean equal heights and equal remaining items.
  uint64_t getHash(Segment segment) const;

private:
  struct Column {
    int64_t height = 0, rest = 0;
    uint32_t crossing = 0, firstItem = 0;
  };
  struct Change {
    uint32_t column; ///< or kPlacement
    int64_t value;   ///< height before, or item
  };
  static constexpr uint32_t kPlacement = UINT32_MAX; // format: marks a placement

  void unplace(uint32_t item);

  std::vector<Column> columns;
  std::vector<Item> items; // by first column, and there by preference
  std::vector<Change> trail;
  std::vector<int64_t> offsets;
};

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_SKYLINE_H
