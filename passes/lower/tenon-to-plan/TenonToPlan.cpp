//===- TenonToPlan.cpp - main becomes a flat list of instructions ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "dialects/plan/Plan.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"

namespace tenon {
#define GEN_PASS_DEF_TENONTOPLAN
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// The ONNX names in a location, each once, joined by " + ".
static std::string getNames(Location loc) {
  SetVector<StringRef> names;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().strref());
    return WalkResult::advance();
  });
  return llvm::join(names, " + ");
}

namespace {

/// Index arithmetic on the program's symbols.
class SizeBuilder {
public:
  SizeBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}
  void bind(unsigned symbol, Value value) { symbols[symbol] = value; }
  bool knows(AffineExpr dim) const {
    bool known = true;
    dim.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        known &= symbols.contains(symbol.getPosition());
    });
    return known;
  }

  Value build(AffineExpr dim) {
    if (Value known = built.lookup(dim))
      return known;
    Value value = buildNew(dim);
    built[dim] = value;
    return value;
  }

  Value buildBytes(RankedTensorType type) {
    unsigned bits = type.getElementTypeBitWidth();
    MLIRContext *context = type.getContext();
    AffineExpr count = getElementCount(context, getDims(type));
    return build(mulDims(count, getDimConstant(context, (bits + 7) / 8)));
  }

private:
  Value buildNew(AffineExpr dim) {
    if (std::optional<int64_t> constant = getConstant(dim))
      return arith::ConstantIndexOp::create(b, loc, *constant);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(dim))
      return symbols.lookup(symbol.getPosition());
    auto binary = cast<AffineBinaryOpExpr>(dim);
    Value lhs = build(binary.getLHS()), rhs = build(binary.getRHS());
    switch (dim.getKind()) {
    case AffineExprKind::Add:
      return arith::AddIOp::create(b, loc, lhs, rhs);
    case AffineExprKind::Mul:
      return arith::MulIOp::create(b, loc, lhs, rhs);
    case AffineExprKind::FloorDiv:
      return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
    case AffineExprKind::CeilDiv:
      return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
    default:
      return arith::RemSIOp::create(b, loc, lhs, rhs);
    }
  }

  OpBuilder &b;
  Location loc;
  llvm::DenseMap<unsigned, Value> symbols;
  llvm::DenseMap<AffineExpr, Value> built;
};

class Conversion {
public:
  Conversion(func::FuncOp main, ModuleOp module) : main(main), module(module), b(main), sizes(b, main.getLoc()) {}
  LogicalResult run();

private:
  void createProgram();
  DictionaryAttr describe(Type type, DictionaryAttr attrs, StringRef fallback);
  LogicalResult checkSymbols();
  void convertLaunch(LaunchOp launch);
  void convertReturn(func::ReturnOp terminator);
  void convertRequirements();
  Value createAlloc(Value value);

  func::FuncOp main;
  ModuleOp module;
  OpBuilder b;
  SizeBuilder sizes;
  plan::ProgramOp program;
  llvm::DenseMap<Value, Value> buffers;
  SmallVector<Value> outputs;
};

} // namespace

DictionaryAttr Conversion::describe(Type type, DictionaryAttr attrs, StringRef fallback) {
  auto tensor = cast<RankedTensorType>(type);
  auto name = attrs ? attrs.getAs<StringAttr>(kNameAttr) : StringAttr();
  return b.getDictionaryAttr({b.getNamedAttr("dims", ShapeAttr::get(b.getContext(), getDims(tensor))),
                              b.getNamedAttr("name", name ? name : b.getStringAttr(fallback)),
                              b.getNamedAttr("type", TypeAttr::get(tensor.getElementType()))});
}

void Conversion::createProgram() {
  SmallVector<Attribute> inputs, results, names;
  SetVector<unsigned> symbols;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    inputs.push_back(describe(type, main.getArgAttrDict(i), ("input_" + Twine(i)).str()));
    // Only a dimension that is a symbol itself can give it its value.
    for (AffineExpr dim : getDims(cast<RankedTensorType>(type)))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(dim))
        symbols.insert(symbol.getPosition());
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    results.push_back(describe(type, main.getResultAttrDict(i), ("output_" + Twine(i)).str()));
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  for (unsigned symbol : symbols)
    names.push_back(b.getStringAttr(dialect->getSymbolName(symbol)));
  program = plan::ProgramOp::create(b, main.getLoc(), main.getName(), b.getArrayAttr(names), b.getArrayAttr(inputs),
                                    b.getArrayAttr(results));
  Block &body = program.getBody().emplaceBlock();
  for (unsigned symbol : symbols)
    sizes.bind(symbol, body.addArgument(b.getIndexType(), main.getLoc()));
  b.setInsertionPointToStart(&body);
}

/// Every extent must follow from the inputs' dimensions.
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
  for (Operation &op : main.getBody().front()) {
    for (Value value : op.getResults())
      check(&op, getDims(value));
    if (auto launch = dyn_cast<LaunchOp>(op))
      check(&op, launch.getSizes().getDims());
  }
  return result;
}

Value Conversion::createAlloc(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  std::string name = getNames(value.getLoc());
  return plan::AllocOp::create(b, value.getLoc(), plan::BufferType::get(b.getContext()), sizes.buildBytes(type),
                               name.empty() ? StringAttr() : b.getStringAttr(name));
}

void Conversion::convertLaunch(LaunchOp launch) {
  SmallVector<Value> inputs, results, extents;
  for (Value input : launch.getInputs())
    inputs.push_back(buffers.lookup(input));
  for (Value result : launch.getResults()) {
    Value &buffer = buffers[result];
    if (!buffer)
      buffer = createAlloc(result);
    results.push_back(buffer);
  }
  SizeBuilder kernelSizes(b, launch.getLoc());
  auto kernel = module.lookupSymbol<func::FuncOp>(launch.getKernelAttr());
  auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  auto *dialect = b.getContext()->getOrLoadDialect<TenonDialect>();
  for (auto [i, dim] : llvm::enumerate(launch.getSizes().getDims())) {
    extents.push_back(sizes.build(dim));
    kernelSizes.bind(dialect->internSymbol(cast<StringAttr>(names[i]).strref()), extents.back());
  }
  Value tiles = kernelSizes.build(kernel->getAttrOfType<ShapeAttr>(kTilesAttr).getDims().front());
  plan::LaunchOp::create(b, launch.getLoc(), launch.getKernelAttr(), inputs, results, extents, tiles,
                         b.getStringAttr(getNames(launch.getLoc())));
}

void Conversion::convertReturn(func::ReturnOp terminator) {
  for (auto [i, value] : llvm::enumerate(terminator.getOperands())) {
    Value buffer = buffers.lookup(value);
    if (buffer == outputs[i])
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    plan::CopyOp::create(b, value.getLoc(), buffer, outputs[i], sizes.buildBytes(type),
                         b.getStringAttr(getNames(value.getLoc())));
  }
}

void Conversion::convertRequirements() {
  auto values = module->getAttrOfType<ShapeAttr>(kRequiresAttr);
  auto texts = module->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
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

/// The value that a view's memory belongs to.
static Value getViewSource(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

LogicalResult Conversion::run() {
  createProgram();
  if (failed(checkSymbols()))
    return failure();
  convertRequirements();
  auto bufferType = plan::BufferType::get(b.getContext());
  for (auto [i, argument] : llvm::enumerate(main.getArguments())) {
    Value size = sizes.buildBytes(cast<RankedTensorType>(argument.getType()));
    buffers[argument] = plan::InputOp::create(b, argument.getLoc(), bufferType, i, size);
  }
  auto terminator = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(terminator.getOperands())) {
    Value size = sizes.buildBytes(cast<RankedTensorType>(value.getType()));
    outputs.push_back(plan::OutputOp::create(b, value.getLoc(), bufferType, i, size));
    // What a launch computes for an output, it writes there at once.
    Value source = getViewSource(value);
    if (source.getDefiningOp<LaunchOp>() && !buffers.contains(source))
      buffers[source] = outputs.back();
  }
  for (Operation &op : main.getBody().front()) {
    if (auto weight = dyn_cast<WeightOp>(op))
      buffers[weight] = plan::WeightOp::create(b, op.getLoc(), bufferType, weight.getValue(), weight.getNameAttr());
    else if (auto reshape = dyn_cast<ReshapeOp>(op))
      buffers[reshape] = buffers.lookup(reshape.getInput());
    else if (auto launch = dyn_cast<LaunchOp>(op))
      convertLaunch(launch);
    else if (isa<func::ReturnOp>(op))
      convertReturn(terminator);
    else if (!op.use_empty())
      return emitUnsupported(&op, "is left over: it belongs into a dispatch region");
  }
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
  }
};
} // namespace
