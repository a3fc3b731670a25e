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

/// A path that the operations of a region have to take, or must not take.
struct PathPin {
  std::string where; ///< the beginning of a region's fingerprint, or the names of nodes as a glob pattern
  std::string path;
  bool isForced = false;

  /// "WHERE=PATH", or "PATH" alone for all operations if the path is excluded. Fails with a message for users where no
  /// path has that name, or the pattern is none.
  static llvm::Expected<PathPin> parse(llvm::StringRef text, bool isForced);
};

/// How a pin may call an operation.
struct PinnedOperation {
  std::string fingerprint;                  ///< of its region
  llvm::SmallVector<llvm::StringRef> nodes; ///< names of the model's nodes that it came of
};

/// The pins of a compilation. Several threads may use them.
class PathPins {
public:
  /// `pins`: parsed ones. Those that nobody insists on need not fit any operation.
  explicit PathPins(std::vector<PathPin> pins, bool areInsistedOn = true);
  ~PathPins();

  /// Which of its paths an operation may take, element by element: of those that are forced the one that was pinned
  /// last, or all that are not excluded. If none would be left, none is ruled out, and findFault() says so.
  std::vector<bool> filter(const PinnedOperation &operation, llvm::ArrayRef<llvm::StringRef> paths);

  /// The pin of activations that are stored as bf16 (kBf16ActivationPath): true where that is forced, false where it is
  /// excluded.
  std::optional<bool> findActivationPin();

  /// Says why what is demanded cannot be done.
  void addFault(std::string text);

  /// Why the pins do not fit the operations that they were asked for; empty where they do. A path that is forced for a
  /// region or a node has to be one of its paths, and what names neither of them is a mistake.
  std::string findFault() const;

private:
  struct Pin;

  mutable std::mutex mutex;
  std::deque<Pin> pins; ///< patterns refer to their texts, which must not move
  bool areInsistedOn;
  std::string fault; ///< of an operation without a path
};

/// The pins that options of a pass say; null where there are none.
llvm::Expected<std::shared_ptr<PathPins>> parsePins(llvm::ArrayRef<std::string> forced,
                                                    llvm::ArrayRef<std::string> excluded);

/// What storing an activation as bf16 is called, in pins and where optional steps are bisected; and what it is called
/// where activations stay as they are.
inline constexpr llvm::StringLiteral kBf16ActivationPath = "bf16_activation", kF32ActivationPath = "f32";
/// The region of all activations.
inline constexpr llvm::StringLiteral kActivationsRegion = "activations";

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHPINS_H
