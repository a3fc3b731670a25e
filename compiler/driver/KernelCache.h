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

/// The text that the code of a tiled kernel follows from: its operations, types and schedules, without its name,
/// without locations, and without estimates that are only shown.
std::string getCanonicalText(mlir::func::FuncOp kernel);

/// The fingerprint of a tiled kernel: of its canonical text, of all passes that lower it, of what the code generator is
/// told about the target, and of the compiler.
std::string fingerprintKernel(mlir::func::FuncOp kernel, const Target &target, CodeEffort effort);

/// The kernels in a cache, for one compilation. What fails is a miss, and noted.
class KernelCache {
public:
  /// Null where there can be no cache, as in a folder that neither exists nor can be made. `model`: the name of the
  /// model's file. `exchange`: null where there are no remote caches.
  static std::shared_ptr<KernelCache> open(const std::string &folder, const std::string &model,
                                           std::shared_ptr<CacheExchange> exchange = nullptr);

  /// Looks up the kernels of `kernels`, a module that holds one for each: first here, then all that are missing in
  /// remote caches at once. The modules of those that are found are emptied; the objects of the others are kept as they
  /// are generated, until `commit`. Kernels of the artifact are counted, and not those that are run in this process
  /// alone. For one thread at a time.
  KernelObjects take(mlir::ModuleOp kernels, const Target &target, CodeEffort effort, const KernelNodes &nodes,
                     bool isCounted = true);

  /// Writes what was generated and used since the last call.
  void commit();

  /// How many kernels were in the cache, and how many were generated.
  size_t getNumTaken() const { return numTaken; }
  size_t getNumGenerated() const { return numGenerated; }
  /// What went wrong, for the user; empty if nothing did.
  const std::string &getNote() const { return note.empty() && exchange ? exchange->getNote() : note; }

private:
  /// A kernel that is looked for.
  struct Wanted {
    std::string name, key;
    mlir::func::FuncOp kernel;
  };
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
