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

/// Keeps weights that passes compute in the heap up to `budget` bytes (0: a fraction of the free memory), and others in
/// an unnamed file in `folder`, which the system deletes with its last mapping, even if the process is killed. After
/// every `budget` bytes that were read, evicts the pages of weights. `onBytes`, if not null, is called from any thread
/// with the number of bytes that were computed or written.
void registerSpilledWeights(mlir::DialectRegistry &registry, std::string folder, uint64_t budget,
                            std::function<void(uint64_t bytes)> onBytes);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SPILLEDWEIGHTS_H
