//===- KernelCache.h - kernels that need not be compiled again ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_KERNELCACHE_H
#define TENON_COMPILER_DRIVER_KERNELCACHE_H

#include "compiler/backend/Backend.h"
#include "compiler/cache/CacheExchange.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// For each kernel, the nodes of the model that it computes: the names of its launches.
using KernelNodes = std::map<std::string, std::vector<std::string>>;
KernelNodes listNodes(mlir::ModuleOp plan);

/// Returns the text that determines the code of a tiled kernel: its operations, types and schedules, without its name,
/// locations, and estimates that are only displayed.
std::string getCanonicalText(mlir::func::FuncOp kernel);

/// Returns the fingerprint of a tiled kernel: of its canonical text, of all passes that lower it, of the code
/// generator's settings for the target, and of the compiler.
std::string fingerprintKernel(mlir::func::FuncOp kernel, const Target &target, CodeEffort effort);

/// A kernel that a plan needs.
struct PlannedKernel {
  CacheEntry entry;        ///< of the cache; where it has none, what the key, title, hardware and uses would be
  bool isCompiled = false; ///< the cache has it
};

/// The kernels in a cache, for one compilation. A failure counts as a miss, and is noted.
class KernelCache {
public:
  /// Returns null if there can be no cache, as in a folder that cannot be created. `model` is the file name of the
  /// model. `exchange` is null if there are no remote caches.
  static std::shared_ptr<KernelCache> open(const std::string &folder, const std::string &model,
                                           std::shared_ptr<CacheExchange> exchange = nullptr);

  /// Looks up the kernels of `kernels`, a module that holds a module for each: first locally, then all missing ones at
  /// once in remote caches. Modules of kernels that are found are emptied; the objects of the others are kept until
  /// `commit`. Only kernels of the artifact are counted, not those that run in this process. Not thread-safe.
  KernelObjects take(mlir::ModuleOp kernels, const Target &target, CodeEffort effort, const KernelNodes &nodes,
                     bool isCounted = true);

  /// Lists the kernels of such a module, in its order, and generates none. Not thread-safe.
  std::vector<PlannedKernel> list(mlir::ModuleOp kernels, const Target &target, CodeEffort effort,
                                  const KernelNodes &nodes);

  /// Writes the objects that were generated or used since the last call.
  void commit();

  /// Returns the number of kernels that were found in the cache, and of those that were generated.
  size_t getNumTaken() const { return numTaken; }
  size_t getNumGenerated() const { return numGenerated; }
  /// Returns the first failure as a message for the user; empty if there was none.
  const std::string &getNote() const { return note.empty() && exchange ? exchange->getNote() : note; }

private:
  /// A kernel that is looked for.
  struct Wanted {
    std::string name, key;
    mlir::ModuleOp module;
  };
  static std::vector<Wanted> listWanted(mlir::ModuleOp kernels, const Target &target, CodeEffort effort);
  CacheEntry makeEntry(const Wanted &wanted, const Target &target, const KernelNodes &nodes) const;
  KernelCache(std::string model, std::shared_ptr<CacheExchange> exchange)
      : exchange(std::move(exchange)), model(std::move(model)) {}
  bool takeHere(const Wanted &wanted, KernelObjects &objects, const KernelNodes &nodes);
  void fetch(std::vector<Wanted> &missing, KernelObjects &objects, const KernelNodes &nodes);
  void noteDamage();
  std::vector<CacheUse> getUses(const std::string &kernel, const KernelNodes &nodes) const;
  void addNote(llvm::Error error);

  std::unique_ptr<CacheStore> store; ///< null once it has failed
  std::shared_ptr<CacheExchange> exchange;
  std::string model, note;
  std::vector<std::pair<CacheEntry, std::string>> generated; ///< with their objects
  std::vector<CacheStore::Reuse> reuses;
  size_t numTaken = 0, numGenerated = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_KERNELCACHE_H
