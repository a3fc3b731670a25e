//===- ArtifactBuilder.h - makes artifacts for tests ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_RUNTIME_ARTIFACTBUILDER_H
#define TENON_TEST_UNIT_RUNTIME_ARTIFACTBUILDER_H

#include "runtime/format/Instruction.h"
#include "runtime/format/Layout.h"
#include "runtime/format/plan_generated.h"
#include "test/unit/runtime/Bytes.h"

#include <string>
#include <vector>

namespace tenon::test {

/// A plan under construction, with short words for what tests need, and public parts to break.
struct ArtifactBuilder {
  struct Code {
    std::string target;
    Bytes bytes;
  };

  fmt::PlanT plan;
  std::vector<Code> codes;
  std::vector<uint8_t> weights;
  std::vector<uint8_t> places;     ///< where weights lie; without any there is no such section
  std::vector<uint8_t> allWeights; ///< with those of other files, for the hashes; empty where there are none
  std::string meta = "{}";
  uint32_t version = fmt::kFormatVersion; ///< of the header; before 3 there is no section of hashes
  std::string planTarget;
  std::vector<fmt::PlanT> before;         ///< plans of programs that are tried before `plan`
  std::vector<std::string> targetsBefore; ///< theirs

  /// Starts with the test kernels as code for this machine, and an expression of value 0 for all sizes.
  ArtifactBuilder();

  uint32_t constant(int64_t value);
  uint32_t symbol(const std::string &name, int64_t min = 0, int64_t max = INT64_MAX); // its expression
  uint32_t expr(fmt::ExprOp op, int64_t a, int64_t b);
  uint32_t input(const std::string &name, fmt::DType dtype, std::vector<uint32_t> dims);
  uint32_t output(const std::string &name, fmt::DType dtype, std::vector<uint32_t> dims);
  uint32_t buffer(const std::string &name, fmt::Storage storage, uint32_t offset, uint32_t size, uint32_t index = 0);
  uint32_t kernel(const std::string &name);
  uint32_t state(const std::string &name, fmt::DType dtype, std::vector<int64_t> dims,
                 fmt::StateKind kind = fmt::StateKind::whole); // its number
  uint32_t instruction(fmt::Opcode op, uint32_t a, uint32_t b, uint32_t c, std::vector<uint32_t> buffers,
                       std::vector<uint32_t> exprs, const std::string &name = "");
  uint32_t launch(const std::string &kernel, uint32_t tiles, std::vector<uint32_t> buffers, std::vector<uint32_t> exprs,
                  const std::string &name);
  uint32_t halt();

  /// The plan so far becomes a program for `sizes`, tried before what `plan` is made to be next.
  void makeProgram(const std::string &sizes);
  /// The plan section alone.
  std::vector<uint8_t> planBytes() const;
  Bytes build() const;

  uint32_t zero; // an expression
};

/// Corrects the table's and the sections' hashes after a change, so that later checks are reached.
void rehash(Bytes &artifact);

/// "x86_64:" or "aarch64:", whichever this machine is.
std::string hostTarget();

/// The test kernels, compiled for "x86_64" or "aarch64".
Bytes kernelCode(const std::string &arch);

/// y[i] = x[i] * 2 + w[i] over tiles of 16 elements, for a symbolic number N of up to 4096 elements of f32;
/// w is a weight, x * 2 goes through the arena.
ArtifactBuilder scaleAndAdd();

} // namespace tenon::test

#endif // TENON_TEST_UNIT_RUNTIME_ARTIFACTBUILDER_H
