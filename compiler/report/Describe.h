//===- Describe.h - parts of a plan in words -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_DESCRIBE_H
#define TENON_COMPILER_REPORT_DESCRIBE_H

#include "runtime/plan/Plan.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tenon {

class ArtifactView;
struct RunWork;

/// Returns "f32[1, N]", and the part of an input or output that the tensor is, if it is not all of it.
std::string getType(const ArtifactView &view, const rt::Tensor &tensor);

/// Returns "f32[512, 8, 64], growing, past rows are live, then M + past".
std::string getStateText(const ArtifactView &view, const rt::State &state);

/// Returns the fields of an instruction: "k0_relu, tiles 12".
std::string getFields(const ArtifactView &view, const rt::Instruction &instruction);

/// "128, N".
std::string getSizes(const ArtifactView &view, const rt::Instruction &instruction);

/// "input x, arena relu1".
std::string getBuffers(const ArtifactView &view, const rt::Instruction &instruction);

/// Shortens the names of fused nodes, which are joined by " + ", to the first one and the number of others: "conv1 +2".
std::string getShortNodes(llvm::StringRef nodes);

/// Returns the floating-point operations per byte that is read or written: "12.5"; empty if either is unknown.
std::string getIntensity(uint64_t flops, uint64_t bytes);

/// Returns "one run: 90 launches, 450,000,000 flops, 30,000,000 bytes, 15.0 flops/byte".
std::string getWorkText(const RunWork &work);

/// "any" for a number of bytes without a bound.
std::string getBoundText(uint64_t bytes);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_DESCRIBE_H
