//===- SuballocateIdleRanges.cpp - activations in idle parts of others ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/SuballocateIdleRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/memory/placement/Instance.h"
#include "runtime/format/Kernel.h"

using namespace mlir;
using namespace tenon;

namespace {

/// The bytes [begin, end) that an instruction accesses.
struct Access {
  int64_t time, begin, end;
};

/// An activation of static size that is not used in a branch or a loop.
struct Owner {
  plan::AllocOp alloc;
  int64_t size;
  std::vector<Access> accesses;
  bool hasAliases = false;

  int64_t first() const { return llvm::min_element(accesses, isEarlier)->time; }
  int64_t last() const { return llvm::max_element(accesses, isEarlier)->time; }
  static bool isEarlier(const Access &a, const Access &b) { return a.time < b.time; }
};

} // namespace

/// Returns false if a use is not in the block, or if its byte range is unknown.
static bool collectAccesses(Value buffer, int64_t begin, int64_t end, const llvm::DenseMap<Operation *, int64_t> &times,
                            Owner &owner) {
  for (Operation *user : buffer.getUsers()) {
    if (auto alias = dyn_cast<plan::AliasOp>(user)) {
      std::optional<int64_t> offset = getConstantIntValue(alias.getOffset()),
                             size = getConstantIntValue(alias.getSize());
      owner.hasAliases = true;
      if (!offset || !size ||
          !collectAccesses(alias.getBuffer(), begin + *offset, begin + *offset + *size, times, owner))
        return false;
      continue;
    }
    auto time = times.find(user);
    if (time == times.end() || user->getNumRegions() != 0)
      return false;
    owner.accesses.push_back({time->second, begin, end});
  }
  return true;
}

static std::vector<Owner> collectOwners(Block &block) {
  llvm::DenseMap<Operation *, int64_t> times;
  for (auto [time, op] : llvm::enumerate(block))
    times[&op] = static_cast<int64_t>(time);
  std::vector<Owner> owners;
  for (auto alloc : block.getOps<plan::AllocOp>()) {
    std::optional<int64_t> size = getConstantIntValue(alloc.getSize());
    Owner owner{alloc, size.value_or(0), {}};
    if (size && collectAccesses(alloc.getBuffer(), 0, *size, times, owner) && !owner.accesses.empty())
      owners.push_back(std::move(owner));
  }
  return owners;
}

/// True if bytes [begin, end) of the outer activation hold no data at these times, and no live range of it spans them.
static bool isIdle(const Owner &outer, int64_t begin, int64_t end, int64_t first, int64_t last) {
  assert(begin <= end && first <= last && "a range has an end, and a lifetime, too");
  bool isUsedBefore = false, isUsedAfter = false;
  for (const Access &access : outer.accesses) {
    if (access.end <= begin || end <= access.begin)
      continue;
    if (access.time >= first && access.time <= last)
      return false;
    (access.time < first ? isUsedBefore : isUsedAfter) = true;
  }
  return !isUsedBefore || !isUsedAfter;
}

/// Returns the offset at which `inner` fits into an idle range of `outer` without extending the lifetime of `outer`.
static std::optional<int64_t> findIdleRange(const Owner &outer, const Owner &inner) {
  assert(!outer.accesses.empty() && !inner.accesses.empty() && "buffers that nothing uses have no lifetime");
  int64_t first = inner.first(), last = inner.last();
  if (first < outer.first() || last > outer.last())
    return std::nullopt;
  SmallVector<int64_t> starts{0};
  for (const Access &access : outer.accesses)
    for (int64_t start : {access.begin, access.end})
      starts.push_back(placement::alignTo(start, TENON_BUFFER_ALIGNMENT));
  llvm::sort(starts);
  for (int64_t start : starts)
    if (start + inner.size <= outer.size && isIdle(outer, start, start + inner.size, first, last))
      return start;
  return std::nullopt;
}

/// Makes the inner a part of the outer.
static void suballocate(Owner &outer, Owner &inner, int64_t offset) {
  assert(offset % TENON_BUFFER_ALIGNMENT == 0 && offset + inner.size <= outer.size && "a inner fits into its outer");
  assert(!inner.hasAliases && "an alias of the inner would become an alias of an alias");
  // All uses of the inner activation come after the first use of the outer one.
  OpBuilder b(inner.alloc.getContext());
  b.setInsertionPointAfter(outer.alloc);
  Location loc = inner.alloc.getLoc();
  Value start = arith::ConstantIndexOp::create(b, loc, offset),
        size = arith::ConstantIndexOp::create(b, loc, inner.size);
  StringAttr name = inner.alloc.getNameAttr();
  auto alias = plan::AliasOp::create(b, loc, inner.alloc.getBuffer().getType(), outer.alloc.getBuffer(), start, size,
                                     name ? name : b.getStringAttr(""));
  inner.alloc.replaceAllUsesWith(alias.getBuffer());
  inner.alloc.erase();
  for (const Access &access : inner.accesses)
    outer.accesses.push_back({access.time, offset + access.begin, offset + access.end});
}

void tenon::suballocateIdleRanges(plan::ProgramOp program) {
  std::vector<Owner> owners = collectOwners(program.getBody().front());
  llvm::stable_sort(owners, [](const Owner &a, const Owner &b) { return a.size > b.size; });
  // Only what has parts has some that hold nothing. An alias of an alias does not exist, so that those stay whole.
  std::vector<Owner *> outers;
  for (Owner &owner : owners)
    if (owner.hasAliases)
      outers.push_back(&owner);
  for (Owner &inner : owners)
    for (Owner *outer : inner.hasAliases ? ArrayRef<Owner *>() : ArrayRef(outers))
      if (std::optional<int64_t> offset = findIdleRange(*outer, inner)) {
        suballocate(*outer, inner, *offset);
        break;
      }
}
