//===- PathPins.h - paths that a user demands or rules out -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHPINS_H
#define TENON_PASSES_PATHS_PATHPINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A path that the operations of a region must take, or must not take.
struct PathPin {
  std::string where; ///< the beginning of a region's fingerprint, or the names of nodes as a glob pattern
  std::string path;
  bool isForced = false;

  /// Parses "WHERE=PATH", or, to exclude a path from all operations, "PATH". Fails with a message for users if there is
  /// no such path, or if the pattern is invalid.
  static llvm::Expected<PathPin> parse(llvm::StringRef text, bool isForced);
};

/// How a pin may call an operation.
struct PinnedOperation {
  std::string fingerprint;                  ///< of its region
  llvm::SmallVector<llvm::StringRef> nodes; ///< names of the model's nodes that it came of
};

/// The pins of a compilation. The class is thread-safe.
class PathPins {
public:
  /// If `areInsistedOn` is false, pins that fit no operation are not an error.
  explicit PathPins(std::vector<PathPin> pins, bool areInsistedOn = true);
  ~PathPins();

  /// Returns for each path whether an operation may take it: if some are forced, the one that was pinned last,
  /// otherwise all that are not excluded. If this would leave none, all are allowed, and check() reports it.
  std::vector<bool> filter(const PinnedOperation &operation, llvm::ArrayRef<llvm::StringRef> paths);

  /// Returns the pin that forces one of the paths on an operation, as users write it; empty if there is none.
  std::string describeDemand(const PinnedOperation &operation, llvm::ArrayRef<llvm::StringRef> paths) const;

  /// Returns the pin of activations that are stored as bf16 (kBf16ActivationPath): true if it is forced, false if it is
  /// excluded.
  std::optional<bool> findActivationPin();

  /// Says why what is demanded cannot be done.
  void addFault(std::string text);

  /// Fails if a pin does not fit the operations, and describes the first one. A path that is forced for a region or a
  /// node must be one of its paths, and a pin that names neither a region nor a node is an error.
  llvm::Error check() const;

private:
  struct Pin;

  mutable std::mutex mutex;
  std::deque<Pin> pins; ///< patterns refer to their texts, which must not move
  bool areInsistedOn;
  std::string fault; ///< of an operation without a path
};

/// Returns the pins that the options of a pass specify; null if there are none.
llvm::Expected<std::shared_ptr<PathPins>> parsePins(llvm::ArrayRef<std::string> forced,
                                                    llvm::ArrayRef<std::string> excluded);

/// The names of storing an activation as bf16, and of keeping it in f32, in pins and in the bisection of optional
/// steps.
inline constexpr llvm::StringLiteral kBf16ActivationPath = "bf16_activation", kF32ActivationPath = "f32";
/// The region of all activations.
inline constexpr llvm::StringLiteral kActivationsRegion = "activations";

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHPINS_H
