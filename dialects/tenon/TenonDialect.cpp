//===- TenonDialect.cpp - registration and symbols -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/ValueNames.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

using namespace mlir;
using namespace tenon;

#include "TenonDialect.cpp.inc"

/// Maps names to numbers and back. Entries are never removed.
class tenon::SymbolTable {
public:
  unsigned intern(StringRef name) {
    std::lock_guard<std::mutex> lock(mutex);
    auto [it, isNew] = ids.try_emplace(name, names.size());
    if (isNew)
      names.push_back(it->first());
    return it->second;
  }
  StringRef getName(unsigned id) {
    std::lock_guard<std::mutex> lock(mutex);
    assert(id < names.size() && "symbol that this context never interned");
    return names[id];
  }

private:
  std::mutex mutex;
  llvm::StringMap<unsigned> ids;
  std::vector<StringRef> names;
};

void TenonDialect::initialize() {
  symbols = std::make_shared<tenon::SymbolTable>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "TenonOps.cpp.inc"
      >();
}

unsigned TenonDialect::internSymbol(StringRef name) { return symbols->intern(name); }
StringRef TenonDialect::getSymbolName(unsigned id) { return symbols->getName(id); }

Operation *TenonDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value); elements && isa<RankedTensorType>(type))
    return WeightOp::create(builder, loc, type, elements, StringAttr());
  return nullptr;
}

void *TenonDialect::getRegisteredInterfaceForOp(TypeID interface, OperationName) {
  return ValueNames::lookup(interface);
}
