//===- RandomSource.h - random numbers of a distribution ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_GRAPH_RANDOMSOURCE_H
#define TENON_COMPILER_GRAPH_RANDOMSOURCE_H

#include "compiler/graph/GraphBuilder.h"

namespace tenon {

/// The random numbers of one node: streams of a key, which is the run's seed or one that the model specifies. Sources
/// with the same key and first stream return the same numbers.
class RandomSource {
public:
  /// The largest number of streams that a source draws: an f64 normal number takes two times two.
  static constexpr int64_t kStreams = 4;

  RandomSource(GraphBuilder &b, Value key, int64_t firstStream) : b(b), key(key), stream(firstStream) {}

  /// Returns uniform numbers in [0, 1) with as many bits as the type represents exactly.
  Value uniform(llvm::ArrayRef<AffineExpr> shape, Type type);
  /// Returns numbers of mean 0 and variance 1 by the Box-Muller transform, computed at least in f32.
  Value normal(llvm::ArrayRef<AffineExpr> shape, Type type);

private:
  /// 32 random bits without the lowest `dropped`.
  Value draw(llvm::ArrayRef<AffineExpr> shape, int64_t dropped);

  GraphBuilder &b;
  Value key;
  int64_t stream;
};

} // namespace tenon

#endif // TENON_COMPILER_GRAPH_RANDOMSOURCE_H
