//===- KernelCache.cpp - kernels that need not be compiled again ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/KernelCache.h"
#include "compiler/cache/CompilerId.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Kernel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tenon;

KernelNodes tenon::listNodes(ModuleOp plan) {
  KernelNodes nodes;
  plan.walk([&](plan::LaunchOp launch) { nodes[launch.getKernel().str()].push_back(launch.getName().str()); });
  return nodes;
}

//===----------------------------------------------------------------------===//
// Fingerprints
//===----------------------------------------------------------------------===//

std::string tenon::getCanonicalText(func::FuncOp kernel) {
  OwningOpRef<func::FuncOp> copy = kernel.clone();
  copy->setName("kernel");
  // Attributes for the plan, which passes on kernels do not read, are removed.
  for (StringRef name : {kFlopsAttr, kBytesAttr, kPathAttr, kPathsAttr, kPathTimesAttr, kRegionAttr, kSizeHintsAttr})
    (*copy)->removeAttr(name);
  std::string text;
  llvm::raw_string_ostream os(text);
  // The generic form prints all attributes of each operation, including those that its custom syntax omits.
  (*copy)->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope().enableDebugInfo(false));
  // A resource is printed by its name.
  (*copy)->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](DenseResourceElementsAttr resource) {
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        os << '\n' << llvm::toStringRef(llvm::ArrayRef(blob->getData().data(), blob->getData().size()));
    });
  });
  return text;
}

/// Returns the text that determines the code of the kernel in a module of its own: of a merged one, that of all parts.
static std::string getTextOfModule(ModuleOp own) {
  auto merged = own.getOps<kernel::MergedOp>();
  if (merged.empty())
    return getCanonicalText(*own.getOps<func::FuncOp>().begin());
  kernel::MergedOp op = *merged.begin();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op.getBuffers() << ' ' << op.getSizes() << ' ' << op.getScratch() << ' ' << op.getSlotsAttr();
  // Parts are the same kernel, or different ones: their names say no more.
  llvm::StringMap<size_t> numbers;
  for (kernel::PartAttr part : op.listParts()) {
    auto [it, isNew] = numbers.try_emplace(part.getKernel().getValue(), numbers.size());
    os << "\npart " << it->second << ' ' << kernel::stringifyPartMode(part.getMode()) << ' '
       << Builder(op.getContext()).getDenseI64ArrayAttr(part.getBuffers()) << ' '
       << Builder(op.getContext()).getDenseI64ArrayAttr(part.getSizes()) << '\n';
    if (isNew)
      os << getCanonicalText(op.lookUp(part));
  }
  return text;
}

/// Prints the passes that a tiled kernel goes through, with all of their options.
static std::string getPipelineText(const Target &target) {
  OpPassManager pm(ModuleOp::getOperationName());
  buildBufferPipeline(pm);
  target.backend->buildPipeline(pm, target);
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  return text;
}

/// What all kernels of a target have in common.
static Fingerprint fingerprintTarget(const Target &target, CodeEffort effort) {
  // The structured binding makes the compiler reject a new field that is not considered here. Options of passes follow
  // from the machine.
  const auto &[backend, name, triple, arch, cpu, features, needed, machine, tuneCpu, runsHere, roundsEachStep] = target;
  Fingerprint fingerprint;
  fingerprint.add(getCompilerId()).add(backend->getName()).add(getPipelineText(target));
  for (const std::string *text : {&triple, &arch, &cpu, &features, &needed, &tuneCpu})
    fingerprint.add(*text);
  return fingerprint.add(effort == CodeEffort::most ? "most" : "little").add(roundsEachStep ? "rounded" : "fused");
}

std::string tenon::fingerprintKernel(func::FuncOp kernel, const Target &target, CodeEffort effort) {
  return fingerprintTarget(target, effort).add(getCanonicalText(kernel)).get();
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

void KernelCache::addNote(llvm::Error error) {
  std::string message;
  takeError(std::move(error), message);
  if (note.empty())
    note = "the cache is not used: " + message;
  store.reset();
}

std::shared_ptr<KernelCache> KernelCache::open(const std::string &folder, const std::string &model,
                                               std::shared_ptr<CacheExchange> exchange) {
  if (folder.empty())
    return nullptr;
  // The identifier is computed before libraries are loaded that are not part of the compiler.
  getCompilerId();
  std::shared_ptr<KernelCache> cache(new KernelCache(llvm::json::fixUTF8(model), std::move(exchange)));
  llvm::Expected<uint64_t> limit = CacheStore::getDefaultLimit();
  if (!limit) {
    cache->addNote(limit.takeError());
    return cache;
  }
  llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(folder, *limit);
  if (store) {
    cache->store = std::move(*store);
    return cache;
  }
  std::string message;
  // A system without a folder for caches is no reason for a warning in each compilation.
  if (CompileStatus category = takeError(store.takeError(), message); category == CompileStatus::resources)
    return nullptr;
  cache->addNote(makeError(CompileStatus::invalid, message));
  return cache;
}

std::vector<CacheUse> KernelCache::getUses(const std::string &kernel, const KernelNodes &nodes) const {
  constexpr size_t kMaxNodes = 64, kMaxName = 1024;
  std::vector<CacheUse> uses;
  if (auto it = nodes.find(kernel); it != nodes.end())
    for (const std::string &node : it->second)
      if (uses.size() < kMaxNodes)
        uses.push_back({model, llvm::json::fixUTF8(llvm::StringRef(node).take_front(kMaxName))});
  if (uses.empty())
    uses.push_back({model, ""});
  return uses;
}

/// "contract" of "k12_contract".
static std::string getKind(llvm::StringRef kernel) { return kernel.split('_').second.str(); }

static std::string describe(const Target &target) { return target.name + " " + target.triple + " " + target.needed; }

bool KernelCache::takeHere(const Wanted &wanted, KernelObjects &objects, const KernelNodes &nodes) {
  llvm::Expected<std::optional<CacheStore::Hit>> hit = store->find(CacheKind::kernel, wanted.key);
  if (!hit) {
    addNote(hit.takeError());
    return false;
  }
  if (!*hit)
    return false;
  objects.known.emplace(wanted.name, (*hit)->content->getBuffer());
  reuses.push_back({(*hit)->entry.id, getUses(wanted.name, nodes)});
  return true;
}

void KernelCache::fetch(std::vector<Wanted> &missing, KernelObjects &objects, const KernelNodes &nodes) {
  std::vector<std::string> keys;
  for (const Wanted &wanted : missing)
    keys.push_back(wanted.key);
  llvm::sort(keys);
  keys.erase(llvm::unique(keys), keys.end());
  std::vector<FetchedEntry> fetched = exchange->fetch(CacheKind::kernel, keys, *store);
  std::map<std::string, FetchedEntry *> entries;
  for (FetchedEntry &each : fetched)
    entries[each.entry.key] = &each;
  std::vector<CacheStore::Addition> additions;
  llvm::erase_if(missing, [&](const Wanted &wanted) {
    auto it = entries.find(wanted.key);
    if (it == entries.end())
      return false;
    objects.known.emplace(wanted.name, it->second->content);
    llvm::append_range(it->second->entry.uses, getUses(wanted.name, nodes));
    return true;
  });
  for (FetchedEntry &each : fetched)
    additions.push_back({std::move(each.entry), each.content, "", std::move(each.share)});
  // They are used even where they cannot be kept.
  if (llvm::Error error = store->commit(additions, {}))
    addNote(std::move(error));
}

void KernelCache::noteDamage() {
  if (store && store->getDamaged() && note.empty())
    note = std::to_string(store->getDamaged()) +
           (store->getDamaged() == 1 ? " damaged entry of the cache is" : " damaged entries of the cache are") +
           " ignored: " + store->getFirstDamage();
}

std::vector<KernelCache::Wanted> KernelCache::listWanted(ModuleOp kernels, const Target &target, CodeEffort effort) {
  Fingerprint common = fingerprintTarget(target, effort);
  std::vector<Wanted> wanted;
  for (auto module : kernels.getOps<ModuleOp>()) {
    auto functions = module.getOps<func::FuncOp>();
    std::string name = module.getName().value_or("").str();
    bool isOne = llvm::hasSingleElement(functions) || !module.getOps<kernel::MergedOp>().empty();
    if (isOne && !name.empty())
      wanted.push_back({name, Fingerprint(common).add(getTextOfModule(module)).get(), module});
  }
  return wanted;
}

CacheEntry KernelCache::makeEntry(const Wanted &wanted, const Target &target, const KernelNodes &nodes) const {
  CacheEntry entry;
  entry.key = wanted.key;
  entry.title = getKind(wanted.name);
  entry.hardware = describe(target);
  entry.compiler = "tenon " TENON_VERSION;
  entry.uses = getUses(wanted.name, nodes);
  return entry;
}

std::vector<PlannedKernel> KernelCache::list(ModuleOp kernels, const Target &target, CodeEffort effort,
                                             const KernelNodes &nodes) {
  std::vector<PlannedKernel> planned;
  for (const Wanted &wanted : listWanted(kernels, target, effort)) {
    planned.push_back({makeEntry(wanted, target, nodes)});
    if (!store)
      continue;
    llvm::Expected<std::optional<CacheStore::Hit>> hit = store->find(CacheKind::kernel, wanted.key);
    if (!hit) {
      addNote(hit.takeError());
    } else if (*hit) {
      std::vector<CacheUse> uses = std::move(planned.back().entry.uses);
      planned.back() = {std::move((*hit)->entry), true};
      planned.back().entry.uses = std::move(uses);
    }
  }
  noteDamage();
  return planned;
}

KernelObjects KernelCache::take(ModuleOp kernels, const Target &target, CodeEffort effort, const KernelNodes &nodes,
                                bool isCounted) {
  KernelObjects objects;
  if (!store || !target.backend->getCapabilities().hasKernelObjects)
    return objects;
  std::vector<Wanted> wanted = listWanted(kernels, target, effort);
  std::vector<Wanted> missing;
  for (const Wanted &each : wanted)
    if (!store || !takeHere(each, objects, nodes))
      missing.push_back(each);
  noteDamage();
  if (store && exchange && !missing.empty())
    fetch(missing, objects, nodes);
  auto entries = std::make_shared<std::map<std::string, CacheEntry, std::less<>>>();
  for (const Wanted &each : missing) {
    CacheEntry &entry = (*entries)[each.name] = makeEntry(each, target, nodes);
    // The reference and constant evaluation have kernels of their own.
    if (!isCounted)
      entry.title = "compile-time " + entry.title;
  }
  for (const Wanted &each : wanted)
    if (!entries->contains(each.name)) {
      ModuleOp(each.module).getBody()->clear();
      numTaken += isCounted;
    }
  objects.onObject = [this, entries, isCounted](StringRef kernel, StringRef object) {
    numGenerated += isCounted;
    if (auto it = entries->find(kernel); it != entries->end())
      generated.emplace_back(it->second, object);
  };
  return objects;
}

void KernelCache::commit() {
  std::vector<CacheStore::Addition> additions;
  std::vector<CacheExchange::Publication> publications;
  for (auto &[entry, object] : generated) {
    std::optional<SignedEntry> share = exchange ? exchange->sign(entry, object) : std::nullopt;
    if (share)
      publications.push_back({*share, object});
    additions.push_back({std::move(entry), object, "", std::move(share)});
  }
  if (store)
    if (llvm::Error error = store->commit(additions, reuses))
      addNote(std::move(error));
  if (exchange)
    exchange->publish(publications);
  generated.clear();
  reuses.clear();
}
