//===- TenonToPlan.cpp - main becomes a flat list of instructions ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ValueNames.h"
#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/cost/MemoryTraffic.h"
#include "passes/lower/tenon-to-plan/Conversion.h"

namespace tenon {
#define GEN_PASS_DEF_TENONTOPLAN
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Returns the ONNX names in a location without duplicates, joined by " + ": the heaviest one first (tenon-fuse), the
/// others in order.
static std::string getNames(Location loc) {
  SetVector<StringRef> names;
  if (auto fused = dyn_cast<FusedLoc>(loc))
    if (auto lead = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
      names.insert(lead);
  forEachNode(loc, [&](StringAttr node) { names.insert(node); });
  return llvm::join(names, " + ");
}

Conversion::Conversion(func::FuncOp main, ModuleOp module)
    : main(main), module(module), b(main), atStart(main), sizes(atStart, main.getLoc()), facts(collectFacts(main)) {}

StringAttr Conversion::getName(Location loc) { return b.getStringAttr(getNames(loc)); }

Value Conversion::getBytes(Value value) { return sizes.buildBytes(cast<RankedTensorType>(value.getType())); }

void Conversion::createCopy(Value source, Value target, Value bytes, Location loc) {
  assert(source && target && "a value has memory before it is copied");
  plan::CopyOp::create(b, loc, source, target, bytes, getName(loc));
}

DictionaryAttr Conversion::describe(Type type, DictionaryAttr attrs, StringRef fallback) {
  auto tensor = cast<RankedTensorType>(type);
  auto name = attrs ? attrs.getAs<StringAttr>(kNameAttr) : StringAttr();
  SmallVector<NamedAttribute> description{b.getNamedAttr("dims", ShapeAttr::get(b.getContext(), getDims(tensor))),
                                          b.getNamedAttr("name", name ? name : b.getStringAttr(fallback)),
                                          b.getNamedAttr("type", TypeAttr::get(tensor.getElementType()))};
  if (auto role = attrs ? attrs.getAs<RoleAttr>(kRoleAttr) : RoleAttr())
    description.push_back(b.getNamedAttr("role", role));
  return b.getDictionaryAttr(description);
}

/// The symbols that inputs and states bind come first, then the data-dependent ones.
void Conversion::collectSymbols(SetVector<unsigned> &symbols) {
  // Only a dimension that is a plain symbol can bind it.
  for (Type type : main.getArgumentTypes())
    for (AffineExpr dim : getDims(cast<RankedTensorType>(type)))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(dim))
        symbols.insert(symbol.getPosition());
  for (auto [symbol, range] : getStateSymbols(main))
    symbols.insert(cast<AffineSymbolExpr>(symbol).getPosition());
  numInputSymbols = symbols.size();
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  main.walk<WalkOrder::PreOrder>([&](SymbolBinderOpInterface binder) {
    if (ArrayAttr names = binder.getSymbolsAttr())
      for (StringRef name : names.getAsValueRange<StringAttr>())
        if (!name.empty())
          symbols.insert(dialect->internSymbol(name));
  });
}

void Conversion::createProgram() {
  SmallVector<Attribute> inputs, results, names;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    inputs.push_back(describe(type, main.getArgAttrDict(i), ("input_" + Twine(i)).str()));
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    results.push_back(describe(type, main.getResultAttrDict(i), ("output_" + Twine(i)).str()));
  SetVector<unsigned> symbols;
  collectSymbols(symbols);
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  for (unsigned symbol : symbols)
    names.push_back(b.getStringAttr(dialect->getSymbolName(symbol)));
  program = plan::ProgramOp::create(b, main.getLoc(), main.getName(), b.getArrayAttr(names), b.getArrayAttr(inputs),
                                    b.getArrayAttr(results), /*ranges=*/nullptr, /*sizes=*/nullptr,
                                    /*scratch=*/nullptr);
  NamedAttrList ranges(main->getAttrOfType<DictionaryAttr>(kRangesAttr));
  for (auto [symbol, ignored] : getStateSymbols(main)) {
    Interval range = facts.getRange(symbol);
    StringRef name = dialect->getSymbolName(cast<AffineSymbolExpr>(symbol).getPosition());
    ranges.set(name, b.getDenseI64ArrayAttr({range.min, range.max}));
  }
  if (!ranges.empty())
    program.setRangesAttr(ranges.getDictionary(b.getContext()));
  if (auto sizes = main->getAttrOfType<StringAttr>(kProgramAttr))
    program.setSizesAttr(sizes);
  Block &body = program.getBody().emplaceBlock();
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    sizes.bind(symbol, body.addArgument(b.getIndexType(), main.getLoc()));
    symbolNumbers[symbol] = i;
  }
  b.setInsertionPointToStart(&body);
  // Arithmetic is inserted before this constant, instructions after it.
  atStart.setInsertionPoint(arith::ConstantIndexOp::create(b, main.getLoc(), 0));
}

/// Checks that every extent follows from the inputs' dimensions and from the symbols that instructions bind.
LogicalResult Conversion::checkSymbols() {
  LogicalResult result = success();
  auto check = [&](Operation *op, ArrayRef<AffineExpr> dims) {
    for (AffineExpr dim : dims)
      if (!sizes.knows(dim)) {
        std::string text;
        llvm::raw_string_ostream os(text);
        printDim(os, dim);
        emitUnsupported(op, "has a dimension ") << text << " that no dimension of an input determines";
        result = failure();
        return;
      }
  };
  for (BlockArgument argument : main.getArguments())
    check(main, getDims(argument));
  main.getBody().walk([&](Operation *op) {
    for (Value value : op->getResults())
      check(op, getDims(value));
    if (auto launch = dyn_cast<LaunchOp>(op))
      check(op, launch.getSizes().getDims());
  });
  return result;
}

/// Emits an upper bound in bytes for a value of data-dependent size; null if the size is known before the run, or if
/// there is no bound.
Value Conversion::getBytesBound(Value value) {
  Dims dims = getDims(value);
  AffineExpr bound = isKnownEarly(dims) ? AffineExpr() : facts.getUpperBound(getElementCount(b.getContext(), dims));
  if (!bound || !isKnownEarly(bound))
    return {};
  return sizes.buildBytes(getTensorType(bound, getElementTypeOrSelf(value)));
}

Value Conversion::createAlloc(Value value) {
  StringAttr name = getName(value.getLoc());
  return plan::AllocOp::create(b, value.getLoc(), plan::BufferType::get(b.getContext()), getBytes(value),
                               getBytesBound(value), name.empty() ? StringAttr() : name);
}

/// Returns the buffers that a launch writes: those of outputs, or new ones.
SmallVector<Value> Conversion::createResults(ValueRange results) {
  SmallVector<Value> made;
  for (Value result : results) {
    Value &buffer = buffers[result];
    if (!buffer)
      buffer = createAlloc(result);
    made.push_back(buffer);
  }
  return made;
}

void Conversion::convertLaunch(LaunchOp launch) {
  auto kernel = module.lookupSymbol<func::FuncOp>(launch.getKernelAttr());
  assert(kernel && kernel->hasAttr(kTilesAttr) && "a launch names a tiled kernel of its module");
  for (auto [i, input] : llvm::enumerate(launch.getInputs()))
    if (auto result = kernel.getArgAttrOfType<IntegerAttr>(i, kReusedAttr))
      buffers[launch.getResult(result.getInt())] = buffers.lookup(input);
  SmallVector<Value> inputs, results = createResults(launch.getResults()), extents;
  for (Value input : launch.getInputs())
    inputs.push_back(buffers.lookup(input));
  SizeBuilder kernelSizes(atStart, launch.getLoc());
  auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  assert((names ? names.size() : 0) == launch.getSizes().getDims().size() &&
         "a launch has a size for each symbol of its kernel");
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  for (auto [i, dim] : llvm::enumerate(launch.getSizes().getDims())) {
    extents.push_back(sizes.build(dim));
    kernelSizes.bind(dialect->internSymbol(cast<StringAttr>(names[i]).strref()), extents.back());
  }
  if (auto scratch = kernel->getAttrOfType<IntegerAttr>(kScratchAttr)) {
    int64_t most = program.getScratch().value_or(0);
    program.setScratch(std::max(most, scratch.getInt()));
  }
  Value tiles = kernelSizes.build(kernel->getAttrOfType<ShapeAttr>(kTilesAttr).getDims().front());
  auto planned = plan::LaunchOp::create(b, launch.getLoc(), launch.getKernelAttr(), inputs, results, extents, tiles,
                                        getName(launch.getLoc()));
  for (StringRef figure : {kFlopsAttr, kBytesAttr})
    if (auto amount = kernel->getAttrOfType<ShapeAttr>(figure)) {
      llvm::DenseMap<AffineExpr, AffineExpr> sizeOf;
      for (size_t i = 0; i < extents.size(); ++i)
        sizeOf[getDimSymbol(b.getContext(), cast<StringAttr>(names[i]))] = b.getAffineSymbolExpr(i);
      AffineExpr expr = amount.getDims().front().replace(sizeOf);
      planned->setAttr(figure, AffineMapAttr::get(AffineMap::get(0, extents.size(), expr)));
    }
}

/// Converts a call to a launch of one tile, which receives the number of elements of each list.
void Conversion::convertCall(CallOp call) {
  SmallVector<Value> inputs, results = createResults(call.getResults()), extents;
  for (Value input : call.getInputs()) {
    inputs.push_back(buffers.lookup(input));
    extents.push_back(sizes.build(getDim(input, 0)));
  }
  for (Value result : call.getResults())
    extents.push_back(sizes.build(getDim(result, 0)));
  Value one = sizes.build(getDimConstant(b.getContext(), 1));
  auto kernel = FlatSymbolRefAttr::get(call.getKernelAttr());
  plan::LaunchOp::create(b, call.getLoc(), kernel, inputs, results, extents, one, getName(call.getLoc()));
}

/// The extents are those of all operands and results, except those of inferred results, which are not known yet.
void Conversion::convertHostCall(HostCallOp call) {
  SmallVector<Value> inputs, results = createResults(call.getResults()), extents;
  SmallVector<Type> inputTypes, resultTypes;
  auto describe = [&](RankedTensorType type, SmallVectorImpl<Type> &types) {
    types.push_back(
        RankedTensorType::get(SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic), type.getElementType()));
  };
  auto addExtents = [&](Value value) {
    for (AffineExpr dim : getDims(value))
      extents.push_back(sizes.build(dim));
  };
  for (Value input : call.getInputs()) {
    inputs.push_back(buffers.lookup(input));
    describe(cast<RankedTensorType>(input.getType()), inputTypes);
    addExtents(input);
  }
  if (call.getInfers()) {
    for (Type type : call.getOutputs()->getAsValueRange<TypeAttr>())
      describe(cast<RankedTensorType>(type), resultTypes);
  } else {
    for (Value result : call.getResults()) {
      describe(cast<RankedTensorType>(result.getType()), resultTypes);
      addExtents(result);
    }
  }
  plan::HostCallOp::create(b, call.getLoc(), call.getPluginAttr(), call.getDomainAttr(), call.getCalleeAttr(), inputs,
                           results, extents, call.getParametersAttr(), call.getPresentAttr(),
                           b.getTypeArrayAttr(inputTypes), b.getTypeArrayAttr(resultTypes), call.getInfersAttr(),
                           getName(call.getLoc()));
}

void Conversion::convertReturn(func::ReturnOp terminator) {
  assert(terminator.getNumOperands() == outputs.size() && "main has an output for each value that it returns");
  for (auto [i, value] : llvm::enumerate(terminator.getOperands()))
    if (Value buffer = buffers.lookup(value); buffer != outputs[i])
      createCopy(buffer, outputs[i], getBytes(value), value.getLoc());
}

void Conversion::convertRequirements() {
  auto values = main->getAttrOfType<ShapeAttr>(kRequiresAttr);
  auto texts = main->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
  if (!values)
    return;
  for (auto [i, dim] : llvm::enumerate(values.getDims())) {
    if (!sizes.knows(dim))
      continue;
    std::string text;
    if (texts && i < texts.size())
      text = cast<StringAttr>(texts[i]).str();
    if (text.empty()) {
      llvm::raw_string_ostream os(text);
      printDim(os, dim);
      os << " must not be negative";
    }
    plan::RequireOp::create(b, main.getLoc(), sizes.build(dim), b.getStringAttr(text));
  }
}

/// Whether extents follow from the inputs' alone.
bool Conversion::isKnownEarly(ArrayRef<AffineExpr> dims) {
  bool isEarly = true;
  for (AffineExpr dim : dims)
    dim.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        isEarly &= symbolNumbers.lookup(symbol.getPosition()) < numInputSymbols;
    });
  return isEarly;
}

/// True if the memory of an output is known to exist when `source`, of which it is a view, is computed.
bool Conversion::isSizedBefore(Value output, Value source) {
  return getBytes(output) == getBytes(source) || isKnownEarly(getDims(output));
}

void Conversion::createOutputs(func::ReturnOp terminator) {
  for (auto [i, value] : llvm::enumerate(terminator.getOperands())) {
    outputs.push_back(
        plan::OutputOp::create(b, value.getLoc(), plan::BufferType::get(b.getContext()), i, getBytes(value)));
    // A launch that computes an output writes it directly to the output's memory.
    Value source = getReshaped(value);
    Operation *definition = source.getDefiningOp();
    if (definition && definition->hasTrait<LaunchLike>() && !buffers.contains(source) && isSizedBefore(value, source))
      buffers[source] = outputs.back();
  }
}

void Conversion::convertRunSeed(RunSeedOp seed) {
  buffers[seed] = createAlloc(seed);
  plan::RunSeedOp::create(b, seed.getLoc(), buffers[seed], getName(seed.getLoc()));
}

LogicalResult Conversion::convertOp(Operation &op) {
  if (auto weight = dyn_cast<WeightOp>(op))
    buffers[weight] = plan::WeightOp::create(b, op.getLoc(), plan::BufferType::get(b.getContext()), weight.getValue(),
                                             weight.getNameAttr());
  else if (auto reshape = dyn_cast<ReshapeOp>(op))
    buffers[reshape] = buffers.lookup(reshape.getInput());
  else if (auto slice = dyn_cast<SliceOp>(op))
    convertSlice(slice);
  else if (auto concat = dyn_cast<ConcatOp>(op))
    convertConcat(concat);
  else if (auto launch = dyn_cast<LaunchOp>(op))
    convertLaunch(launch);
  else if (auto call = dyn_cast<CallOp>(op))
    convertCall(call);
  else if (auto call = dyn_cast<HostCallOp>(op))
    convertHostCall(call);
  else if (auto seed = dyn_cast<RunSeedOp>(op))
    convertRunSeed(seed);
  else if (auto read = dyn_cast<StateReadOp>(op))
    convertStateRead(read);
  else if (auto update = dyn_cast<StateUpdateOp>(op))
    convertStateUpdate(update);
  else if (auto bind = dyn_cast<BindOp>(op))
    convertBind(bind);
  else if (auto require = dyn_cast<RequireOp>(op))
    convertRequire(require);
  else if (auto append = dyn_cast<AppendOp>(op))
    return convertAppend(append);
  else if (auto branch = dyn_cast<IfOp>(op))
    return convertIf(branch);
  else if (auto loop = dyn_cast<LoopOp>(op))
    return convertLoop(loop);
  else if (!isa<SizesOp>(op) && !op.use_empty())
    return emitUnsupported(&op, "is left over: it belongs into a dispatch region");
  return success();
}

LogicalResult Conversion::convertBlock(Block &block) {
  placeParts(block);
  for (Operation &op : block.without_terminator())
    if (failed(convertOp(op)))
      return failure();
  return success();
}

LogicalResult Conversion::run() {
  createProgram();
  if (failed(checkSymbols()))
    return failure();
  convertRequirements();
  for (auto [i, argument] : llvm::enumerate(main.getArguments()))
    buffers[argument] =
        plan::InputOp::create(b, argument.getLoc(), plan::BufferType::get(b.getContext()), i, getBytes(argument));
  createStates();
  Block &body = main.getBody().front();
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  createOutputs(terminator);
  placeUpdates(body);
  if (failed(convertBlock(body)))
    return failure();
  convertReturn(terminator);
  main.erase();
  return success();
}

namespace {
struct TenonToPlan : public tenon::impl::TenonToPlanBase<TenonToPlan> {
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isPrivate() && !function->hasAttr(kKernelAttr))
        if (failed(Conversion(function, getOperation()).run()))
          return signalPassFailure();
    for (auto state : llvm::make_early_inc_range(getOperation().getOps<StateOp>()))
      state.erase();
  }
};
} // namespace
