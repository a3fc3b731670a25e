//===- ValueNames.cpp - the names of values in printed IR ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ValueNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;

std::string tenon::toValueName(StringRef name) {
  constexpr size_t kMaxLength = 48; // format: longer names make lines that no screen has room for
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) || c == '_' || c == '-' ? c : c == '.' || c == '/' || c == ':' ? '.' : '_';
  StringRef kept = text;
  if (kept.size() > kMaxLength) {
    kept = kept.take_back(kMaxLength);
    if (size_t dot = kept.find('.'); dot != StringRef::npos && dot + 1 < kept.size())
      kept = kept.drop_front(dot);
  }
  return kept.trim(".-").str();
}

void tenon::forEachNode(Location loc, llvm::function_ref<void(StringAttr)> use) {
  loc->walk([&](Location part) {
    auto node = dyn_cast<NameLoc>(part);
    if (node)
      use(node.getName());
    return node ? WalkResult::skip() : WalkResult::advance();
  });
}

llvm::SetVector<StringRef> tenon::listNodes(Location loc) {
  llvm::SetVector<StringRef> names;
  forEachNode(loc, [&](StringAttr node) { names.insert(node.strref()); });
  return names;
}

static StringRef getNodeName(Location loc) {
  StringRef last;
  forEachNode(loc, [&](StringAttr node) { last = node; });
  return last;
}

static void setNameOf(Value value, StringRef name, OpAsmSetValueNameFn setName) {
  if (std::string text = toValueName(name); !text.empty())
    setName(value, text);
}

/// The name of an operation with a constant value.
static StringAttr getWeightName(Operation *op) {
  if (!op->getInherentAttr("value").value_or(Attribute()))
    return {};
  return dyn_cast_or_null<StringAttr>(op->getInherentAttr("name").value_or(Attribute()));
}

void ValueNames::getAsmResultNames(Operation *op, OpAsmSetValueNameFn setName) const {
  if (op->getNumResults() == 0)
    return;
  // An operation with the location of the whole function belongs to no node.
  Operation *parent = op->getParentOp();
  if (parent && parent->hasTrait<OpTrait::IsIsolatedFromAbove>() && parent->getLoc() == op->getLoc())
    return;
  StringAttr weight = getWeightName(op);
  // The suffix for derived weights is removed: "conv1.weight (packed)".
  setNameOf(op->getResult(0), weight ? weight.getValue().split(" (").first : getNodeName(op->getLoc()), setName);
}

void ValueNames::getAsmBlockArgumentNames(Operation *, Region &region, OpAsmSetValueNameFn setName) const {
  for (BlockArgument argument : region.getArguments())
    setNameOf(argument, getNodeName(argument.getLoc()), setName);
}

void *ValueNames::lookup(TypeID interface) {
  static ValueNames names;
  return interface == OpAsmOpInterface::getInterfaceID() ? &names : nullptr;
}
