//===- SpilledWeights.h - computed weights in a file --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_SPILLEDWEIGHTS_H
#define TENON_COMPILER_DRIVER_SPILLEDWEIGHTS_H

#include <cstdint>
#include <functional>
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace tenon {

/// Keeps weights that passes compute in the heap up to `budget` bytes, or a part of the free memory where that is 0,
/// and others in a file without a name in `folder`, which is gone when the last of them is, whatever ends the process.
/// Gives back the pages of weights that were looked at, whenever they were so many bytes. `onBytes`, if not null, is
/// told how many bytes of weights were computed or written, by any thread.
void registerSpilledWeights(mlir::DialectRegistry &registry, std::string folder, uint64_t budget,
                            std::function<void(uint64_t bytes)> onBytes);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SPILLEDWEIGHTS_H
