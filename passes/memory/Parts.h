//===- Parts.h - which bytes of which buffer a value is -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PARTS_H
#define TENON_PASSES_MEMORY_PARTS_H

#include "dialects/plan/Plan.h"
#include <optional>

namespace tenon {

/// The bytes [begin, end) of a root buffer; none if they are not known.
struct Part {
  mlir::Value buffer; ///< the value that this is about
  mlir::Value whole;
  std::optional<int64_t> begin, end;
  /// The owner of these bytes: an alias that is sub-allocated in them (SuballocateIdleRanges), or the whole buffer.
  mlir::Value holder;
};

Part getPart(mlir::Value buffer);

/// Of two parts of one buffer.
bool overlap(const Part &a, const Part &b);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_PARTS_H
