//===- KernelFacts.h - what a kernel says of its launches ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts of Kernel.h, decoded. A plan may be damaged while its hashes hold, since
// anybody can compute them; the kernel's own facts then keep a launch from handing
// it buffers that are too few or too small.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_KERNELFACTS_H
#define TENON_RUNTIME_CORE_KERNELFACTS_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::rt {

class KernelFacts {
public:
  /// Decodes `count` words. Returns false if they violate the format in Kernel.h.
  bool decode(const int64_t *words, size_t count);

  /// False if there are no facts, as in artifacts before version 3.
  bool exist() const { return !operands.empty() || tiles.end != 0; }

  uint32_t numBuffers() const { return uint32_t(operands.size()); }
  uint32_t numSizes() const { return sizes; }
  uint64_t scratchBytes() const { return scratch; }
  bool isWritten(uint32_t buffer) const { return operands[buffer].isWritten; }

  /// Computes the number of tiles of a launch with these sizes; -1 if any number is valid. Returns false if the
  /// expression has no value.
  bool countTiles(const int64_t *sizeValues, int64_t *count) const { return evaluate(tiles, sizeValues, -1, count); }
  /// Computes the minimal bytes of a buffer. Returns false if the expression has no value.
  bool leastBytes(uint32_t buffer, const int64_t *sizeValues, int64_t *bytes) const {
    return evaluate(operands[buffer].bytes, sizeValues, 0, bytes);
  }

private:
  /// Part of `program`.
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  struct Operand {
    bool isWritten;
    Range bytes;
  };
  struct Step {
    ExprOp op;
    int64_t value;
  };

  bool decodeExpr(const int64_t *&next, const int64_t *end, Range *range);
  bool evaluate(Range range, const int64_t *sizeValues, int64_t whereEmpty, int64_t *result) const;

  std::vector<Step> program; // all expressions, in postfix notation
  std::vector<Operand> operands;
  Range tiles;
  uint32_t sizes = 0;
  uint64_t scratch = 0;
};

/// Checks what is known before sizes are bound: the numbers of buffers and sizes of each launch in the plan, and that
/// kernels write neither weights nor inputs. `facts` has an element for each kernel.
Status verifyLaunches(const Plan &plan, const std::vector<KernelFacts> &facts);

/// Checks one launch with the values of the plan's expressions: its number of tiles, and the sizes of its buffers and
/// scratch. `sizes` has the values of the launch's expressions.
Status checkLaunch(const Plan &plan, const Instruction &launch, const KernelFacts &facts, const int64_t *exprs,
                   const int64_t *sizes);

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_KERNELFACTS_H
