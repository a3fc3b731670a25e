//===- PlanOps.cpp - checks of instructions and buffers -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/Plan.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Ranges.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tenon::plan;

//===----------------------------------------------------------------------===//
// What several operations have in common
//===----------------------------------------------------------------------===//

/// Verifies that a constant size, offset or tile count is not negative.
static LogicalResult verifyNotNegative(Operation *op, Value value, StringRef what) {
  APInt constant;
  if (!value || !matchPattern(value, m_ConstantInt(&constant)) || !constant.isNegative())
    return success();
  return op->emitOpError("has a negative ") << what << ", " << constant.getSExtValue();
}

static LogicalResult verifyNotNegative(Operation *op, int64_t value, StringRef what) {
  if (value < 0)
    return op->emitOpError("has a negative ") << what << ", " << value;
  return success();
}

/// Returns the operation that creates the memory of which `buffer` is a part; null for a block argument.
static Operation *getOrigin(Value buffer) {
  while (auto alias = buffer.getDefiningOp<AliasOp>())
    buffer = alias.getSource();
  return buffer.getDefiningOp();
}

static InFlightDiagnostic &noteOrigin(InFlightDiagnostic &diagnostic, Value buffer) {
  if (Operation *origin = getOrigin(buffer))
    diagnostic.attachNote(origin->getLoc()) << "the buffer is defined here";
  return diagnostic;
}

/// Only views of the arena may be used: no instruction uses the whole.
static LogicalResult verifyNoArena(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa_and_nonnull<ArenaOp>(operand.getDefiningOp())) {
      InFlightDiagnostic diagnostic = op->emitOpError("uses the arena as a buffer; it takes a plan.view of it");
      return noteOrigin(diagnostic, operand);
    }
  return success();
}

/// Instructions must not write memory of the artifact or the caller.
static LogicalResult verifyWritable(Operation *op, Value buffer) {
  if (!isa_and_nonnull<WeightOp, InputOp>(getOrigin(buffer)))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("writes to a ")
                                  << (isa<WeightOp>(getOrigin(buffer)) ? "weight" : "graph input");
  return noteOrigin(diagnostic, buffer);
}

/// Verifies that `number` is a symbol of the program around `op`.
static LogicalResult verifySymbol(Operation *op, int64_t number) {
  auto program = op->getParentOfType<ProgramOp>();
  if (!program)
    return op->emitOpError("changes a symbol and needs a plan.program around it");
  int64_t count = program.getSymbols().size();
  if (number >= 0 && number < count)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("names symbol ") << number << " of a program with " << count;
  diagnostic.attachNote(program.getLoc()) << "the program is here";
  return diagnostic;
}

/// Branches and loop bodies use the values around them and have no arguments.
static LogicalResult verifyNoArguments(Operation *op) {
  for (Region &region : op->getRegions())
    if (region.getNumArguments() != 0)
      return op->emitOpError("has a block with arguments, expected none");
  return success();
}

//===----------------------------------------------------------------------===//
// plan.program
//===----------------------------------------------------------------------===//

/// Verifies an input or output: `name`, `type`, `dims` in symbols of the program, and `role`.
static LogicalResult verifyTensor(ProgramOp program, DictionaryAttr tensor, StringRef list, size_t index) {
  auto fail = [&] { return program.emitOpError("has an entry ") << index << " of '" << list << "' "; };
  for (NamedAttribute entry : tensor)
    if (!llvm::is_contained({"name", "type", "dims", "role"}, entry.getName().getValue()))
      return fail() << "with an unknown key '" << entry.getName().getValue() << "'";
  if (!tensor.getAs<StringAttr>("name"))
    return fail() << "without a 'name' that is a string";
  if (!tensor.getAs<TypeAttr>("type"))
    return fail() << "without a 'type'";
  if (Attribute role = tensor.get("role"))
    if (!isa<tenon::RoleAttr>(role))
      return fail() << "with " << role << " as its 'role', expected a #tenon.role";
  auto dims = tensor.getAs<tenon::ShapeAttr>("dims");
  if (!dims)
    return fail() << "without 'dims' that are a #tenon.shape";
  auto *dialect = program.getContext()->getOrLoadDialect<tenon::TenonDialect>();
  auto names = program.getSymbols().getAsValueRange<StringAttr>();
  for (AffineExpr dim : dims.getDims()) {
    std::optional<StringRef> unknown;
    dim.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        if (StringRef name = dialect->getSymbolName(symbol.getPosition()); !llvm::is_contained(names, name))
          unknown = name;
    });
    if (unknown)
      return fail() << "of a size that depends on '" << *unknown << "', which is no symbol of the program";
  }
  return success();
}

static LogicalResult verifyRanges(ProgramOp program) {
  for (NamedAttribute entry :
       program.getRangesAttr() ? program.getRangesAttr() : DictionaryAttr::get(program.getContext())) {
    auto ends = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    if (!ends || ends.size() != 2 || ends[0] > ends[1])
      return program.emitOpError("has ") << entry.getValue() << " as the range of '" << entry.getName().getValue()
                                         << "', expected array<i64: smallest, largest>";
  }
  if (!program.getSizes())
    return success();
  if (llvm::Error error = tenon::parseRanges(*program.getSizes()).takeError())
    return program.emitOpError("has invalid 'sizes': ") << llvm::toString(std::move(error));
  return success();
}

LogicalResult ProgramOp::verify() {
  llvm::SmallDenseSet<StringRef> names;
  for (StringRef name : getSymbols().getAsValueRange<StringAttr>())
    if (name.empty() || !names.insert(name).second)
      return emitOpError("has the symbol '") << name << "' twice, or without a name";
  for (auto [list, tensors] : {std::pair("inputs", getInputs()), std::pair("outputs", getOutputs())})
    for (auto [i, tensor] : llvm::enumerate(tensors.getAsRange<DictionaryAttr>()))
      if (failed(verifyTensor(*this, tensor, list, i)))
        return failure();
  if (getScratch())
    if (failed(verifyNotNegative(*this, *getScratch(), "'scratch'")))
      return failure();
  return verifyRanges(*this);
}

LogicalResult ProgramOp::verifyRegions() {
  if (getBody().getNumArguments() != getSymbols().size() ||
      !llvm::all_of(getBody().getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("has ") << getSymbols().size() << " symbols, expected as many block arguments of type index";
  ArenaOp first;
  for (auto arena : getBody().front().getOps<ArenaOp>()) {
    if (first) {
      InFlightDiagnostic diagnostic = arena.emitOpError("is the second one of its program");
      diagnostic.attachNote(first.getLoc()) << "the first one is here";
      return diagnostic;
    }
    first = arena;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Verifies that an input or output is in the program's list.
static LogicalResult verifyListed(Operation *op, int64_t index, size_t count, StringRef list) {
  if (index >= 0 && index < static_cast<int64_t>(count))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("is number ") << index << " of " << count << " " << list;
  diagnostic.attachNote(op->getParentOp()->getLoc()) << "the program is here";
  return diagnostic;
}

LogicalResult InputOp::verify() {
  if (failed(verifyListed(*this, getIndex(), cast<ProgramOp>((*this)->getParentOp()).getInputs().size(), "inputs")))
    return failure();
  return verifyNotNegative(*this, getSize(), "size");
}

LogicalResult OutputOp::verify() {
  if (failed(verifyListed(*this, getIndex(), cast<ProgramOp>((*this)->getParentOp()).getOutputs().size(), "outputs")))
    return failure();
  return verifyNotNegative(*this, getSize(), "size");
}

LogicalResult WeightOp::verify() {
  if (!getValue().getElementType().isIntOrFloat())
    return emitOpError("has elements of type ") << getValue().getElementType() << ", expected integers or floats";
  return success();
}

LogicalResult StateOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return emitOpError("has type ") << getType() << ", expected a tensor of constant size";
  for (std::optional<int64_t> symbol : {getLive(), getRing()})
    if (symbol && failed(verifySymbol(*this, *symbol)))
      return failure();
  if (!getLive() && (getRing() || getNext()))
    return emitOpError("counts rows without a symbol for those that are live");
  if (getLive() && (type.getRank() == 0 || type.getDimSize(0) == 0 || getInitial()))
    return emitOpError("has live rows, and no memory for any or an initial value");
  if (getInitial() && getInitial()->getShapedType() != type)
    return emitOpError("has an initial value of type ") << getInitial()->getShapedType() << ", expected " << type;
  return verifyNotNegative(*this, getNext(), "number of rows");
}

LogicalResult AllocOp::verify() {
  if (failed(verifyNotNegative(*this, getSize(), "size")))
    return failure();
  return verifyNotNegative(*this, getBound(), "bound");
}

LogicalResult ArenaOp::verify() { return verifyNotNegative(*this, getSize(), "size"); }

LogicalResult ViewOp::verify() {
  if (!getArena().getDefiningOp<ArenaOp>()) {
    InFlightDiagnostic diagnostic = emitOpError("is a part of a buffer that is not the arena; a plan.alias would be");
    return noteOrigin(diagnostic, getArena());
  }
  if (bool(getStart()) != bool(getRoom()))
    return emitOpError("has only one of 'start' and 'room'");
  for (auto [value, what] : {std::pair<Value, StringRef>(getOffset(), "offset"),
                             {getSize(), "size"},
                             {getStart(), "start"},
                             {getRoom(), "room"}})
    if (failed(verifyNotNegative(*this, value, what)))
      return failure();
  return success();
}

LogicalResult HeapOp::verify() {
  if (failed(verifyNotNegative(*this, getBlock(), "block")) || failed(verifyNotNegative(*this, getOffset(), "offset")))
    return failure();
  return verifyNotNegative(*this, getSize(), "size");
}

LogicalResult AliasOp::verify() {
  if (failed(verifyNoArena(*this)) || failed(verifyNotNegative(*this, getOffset(), "offset")))
    return failure();
  return verifyNotNegative(*this, getSize(), "size");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

LogicalResult RequireOp::verify() {
  return getText().empty() ? emitOpError("has no text to refuse sizes with") : success();
}

LogicalResult CheckOp::verify() {
  return getText().empty() ? emitOpError("has no text to end the run with") : success();
}

LogicalResult LaunchOp::verify() {
  if (failed(verifyNoArena(*this)) || failed(verifyNotNegative(*this, getTiles(), "number of tiles")))
    return failure();
  for (Value output : getOutputs())
    if (failed(verifyWritable(*this, output)))
      return failure();
  return success();
}

LogicalResult HostCallOp::verify() {
  if (failed(verifyNoArena(*this)))
    return failure();
  for (Value output : getOutputs())
    if (failed(verifyWritable(*this, output)))
      return failure();
  for (NamedAttribute parameter : getParameters())
    if (!isa<DenseI64ArrayAttr, DenseF64ArrayAttr, StringAttr>(parameter.getValue()))
      return emitOpError("has a parameter '") << parameter.getName().getValue() << "' that is neither numbers nor text";
  if (llvm::count(getPresent(), true) != static_cast<int64_t>(getInputs().size()) ||
      getInputTypes().size() != getInputs().size())
    return emitOpError("has ") << getInputs().size() << " inputs, which does not match 'present' or 'input_types'";
  if (!getInfers() && getResultTypes().size() != getOutputs().size())
    return emitOpError("has ") << getOutputs().size() << " outputs, but " << getResultTypes().size()
                               << " 'result_types'";
  if (getInfers() && getOutputs().size() != 1)
    return emitOpError("infers extents into one output, found ") << getOutputs().size();
  size_t extents = 0;
  auto count = [&](ArrayAttr types) {
    for (Type type : types.getAsValueRange<TypeAttr>()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        return failure();
      extents += tensor.getRank();
    }
    return success();
  };
  if (failed(count(getInputTypes())) || (!getInfers() && failed(count(getResultTypes()))))
    return emitOpError("has operand types that are no ranked tensors");
  if (getSizes().size() != extents)
    return emitOpError("has ") << getSizes().size() << " sizes for tensors with " << extents << " dimensions";
  return success();
}

LogicalResult BindOp::verify() {
  if (failed(verifyNoArena(*this)) || failed(verifySymbol(*this, getSymbol())))
    return failure();
  return verifyNotNegative(*this, getPosition(), "position");
}

LogicalResult SetOp::verify() { return verifySymbol(*this, getSymbol()); }

LogicalResult ReserveOp::verify() {
  if (failed(verifyNotNegative(*this, getSize(), "size")))
    return failure();
  if (isa_and_nonnull<AllocOp, HeapOp>(getBuffer().getDefiningOp()))
    return success();
  InFlightDiagnostic diagnostic = emitOpError("makes room in a buffer that cannot grow; plan.alloc and plan.heap can");
  return noteOrigin(diagnostic, getBuffer());
}

LogicalResult IfOp::verifyRegions() { return failed(verifyNoArena(*this)) ? failure() : verifyNoArguments(*this); }

LogicalResult LoopOp::verifyRegions() { return failed(verifyNoArena(*this)) ? failure() : verifyNoArguments(*this); }

LogicalResult CopyOp::verify() {
  // A slice that clamps to its whole operand becomes a copy of a buffer to itself, which has no effect.
  if (failed(verifyNoArena(*this)) || failed(verifyWritable(*this, getTarget())))
    return failure();
  return verifyNotNegative(*this, getSize(), "size");
}

LogicalResult ReleaseOp::verify() {
  if (getWeight().getDefiningOp<WeightOp>())
    return success();
  InFlightDiagnostic diagnostic = emitOpError("releases a buffer that is no weight");
  return noteOrigin(diagnostic, getWeight());
}

LogicalResult RunSeedOp::verify() {
  return failed(verifyNoArena(*this)) ? failure() : verifyWritable(*this, getTarget());
}
