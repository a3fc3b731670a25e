//===- Plan.cpp - the plan section ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "compiler/artifact/Plan.h"
#include "compiler/artifact/DTypes.h"
#include "compiler/artifact/Weights.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Unsupported.h"
#include "runtime/format/Instruction.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;
using namespace tenon;

namespace {

/// Collects expressions, each distinct one once.
class ExprTable {
public:
  uint32_t add(fmt::ExprOp op, int64_t a, int64_t b = 0) {
    auto [it, isNew] = known.try_emplace(std::tuple(op, a, b), exprs.size());
    if (isNew)
      exprs.emplace_back(op, a, b);
    return it->second;
  }
  uint32_t addConstant(int64_t value) { return add(fmt::ExprOp::constant, value); }

  uint32_t addDim(AffineExpr dim, llvm::function_ref<uint32_t(AffineSymbolExpr)> symbol) {
    if (std::optional<int64_t> constant = getConstant(dim))
      return addConstant(*constant);
    if (auto s = dyn_cast<AffineSymbolExpr>(dim))
      return symbol(s);
    auto binary = cast<AffineBinaryOpExpr>(dim);
    uint32_t lhs = addDim(binary.getLHS(), symbol), rhs = addDim(binary.getRHS(), symbol);
    switch (dim.getKind()) {
    case AffineExprKind::Add:
      return add(fmt::ExprOp::add, lhs, rhs);
    case AffineExprKind::Mul:
      return add(fmt::ExprOp::mul, lhs, rhs);
    case AffineExprKind::FloorDiv:
      return add(fmt::ExprOp::floordiv, lhs, rhs);
    case AffineExprKind::CeilDiv:
      return add(fmt::ExprOp::ceildiv, lhs, rhs);
    default:
      return add(fmt::ExprOp::mod, lhs, rhs);
    }
  }

  std::vector<fmt::Expr> exprs;

private:
  std::map<std::tuple<fmt::ExprOp, int64_t, int64_t>, uint32_t> known;
};

class Serializer {
public:
  Serializer(plan::ProgramOp program, WeightSection &weights) : program(program), weights(weights) {}
  LogicalResult run();

  fmt::PlanT plan;
  std::vector<std::string> kernelNames;

private:
  LogicalResult addTensors(ArrayAttr descriptions, std::vector<std::unique_ptr<fmt::TensorT>> &tensors);
  LogicalResult addArithmetic(Operation &op);
  void addBuffer(Value value, fmt::Storage storage, uint32_t index, uint32_t offset, uint32_t size, StringAttr name);
  fmt::InstructionT &addInstruction(fmt::Opcode opcode, StringRef name);
  void addLaunch(plan::LaunchOp launch);

  plan::ProgramOp program;
  WeightSection &weights;
  ExprTable exprs;
  llvm::DenseMap<Value, uint32_t> exprOf, bufferOf;
  llvm::StringMap<uint32_t> kernelOf;
};

} // namespace

LogicalResult Serializer::addTensors(ArrayAttr descriptions, std::vector<std::unique_ptr<fmt::TensorT>> &tensors) {
  auto *dialect = program->getContext()->getOrLoadDialect<TenonDialect>();
  for (auto description : descriptions.getAsRange<DictionaryAttr>()) {
    auto tensor = std::make_unique<fmt::TensorT>();
    tensor->name = description.getAs<StringAttr>("name").str();
    Type type = description.getAs<TypeAttr>("type").getValue();
    std::optional<fmt::DType> dtype = getDType(type);
    if (!dtype)
      return emitUnsupported(program, "tensor '") << tensor->name << "' has element type " << type
                                           << ", which an artifact cannot hold";
    tensor->dtype = *dtype;
    for (AffineExpr dim : description.getAs<ShapeAttr>("dims").getDims())
      tensor->dims.push_back(exprs.addDim(dim, [&](AffineSymbolExpr symbol) {
        StringRef name = dialect->getSymbolName(symbol.getPosition());
        for (auto [i, known] : llvm::enumerate(program.getSymbols().getAsValueRange<StringAttr>()))
          if (known == name)
            return exprs.add(fmt::ExprOp::symbol, i);
        llvm_unreachable("a program names every symbol of its inputs and outputs");
      }));
    tensors.push_back(std::move(tensor));
  }
  return success();
}

LogicalResult Serializer::addArithmetic(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    exprOf[constant] = exprs.addConstant(constant.value());
    return success();
  }
  auto kind = llvm::TypeSwitch<Operation *, std::optional<fmt::ExprOp>>(&op)
                  .Case<arith::AddIOp>([](auto) { return fmt::ExprOp::add; })
                  .Case<arith::SubIOp>([](auto) { return fmt::ExprOp::sub; })
                  .Case<arith::MulIOp>([](auto) { return fmt::ExprOp::mul; })
                  .Case<arith::FloorDivSIOp>([](auto) { return fmt::ExprOp::floordiv; })
                  .Case<arith::CeilDivSIOp>([](auto) { return fmt::ExprOp::ceildiv; })
                  .Case<arith::RemSIOp>([](auto) { return fmt::ExprOp::mod; })
                  .Case<arith::MinSIOp>([](auto) { return fmt::ExprOp::min; })
                  .Case<arith::MaxSIOp>([](auto) { return fmt::ExprOp::max; })
                  .Default([](Operation *) { return std::nullopt; });
  if (!kind)
    return op.emitError("has no place in a plan");
  exprOf[op.getResult(0)] = exprs.add(*kind, exprOf.lookup(op.getOperand(0)), exprOf.lookup(op.getOperand(1)));
  return success();
}

void Serializer::addBuffer(Value value, fmt::Storage storage, uint32_t index, uint32_t offset, uint32_t size,
                           StringAttr name) {
  bufferOf[value] = plan.buffers.size();
  auto buffer = std::make_unique<fmt::BufferT>();
  buffer->storage = storage;
  buffer->index = index;
  buffer->offset = offset;
  buffer->size = size;
  if (name)
    buffer->name = name.str();
  plan.buffers.push_back(std::move(buffer));
}

fmt::InstructionT &Serializer::addInstruction(fmt::Opcode opcode, StringRef name) {
  plan.instructions.push_back(std::make_unique<fmt::InstructionT>());
  fmt::InstructionT &instruction = *plan.instructions.back();
  instruction.op = static_cast<uint8_t>(opcode);
  instruction.name = name.str();
  return instruction;
}

void Serializer::addLaunch(plan::LaunchOp launch) {
  auto [it, isNew] = kernelOf.try_emplace(launch.getKernel(), plan.kernels.size());
  if (isNew) {
    auto kernel = std::make_unique<fmt::KernelT>();
    kernel->name = launch.getKernel().str();
    kernel->display = launch.getName().str();
    plan.kernels.push_back(std::move(kernel));
    kernelNames.push_back(launch.getKernel().str());
  }
  fmt::InstructionT &instruction = addInstruction(fmt::Opcode::launch, launch.getName());
  instruction.a = it->second;
  instruction.b = exprOf.lookup(launch.getTiles());
  for (Value input : launch.getInputs())
    instruction.buffers.push_back(bufferOf.lookup(input));
  for (Value output : launch.getOutputs())
    instruction.buffers.push_back(bufferOf.lookup(output));
  for (Value size : launch.getSizes())
    instruction.exprs.push_back(exprOf.lookup(size));
}

LogicalResult Serializer::run() {
  uint32_t zero = exprs.addConstant(0);
  plan.arena_size = plan.scratch_size = zero;
  for (auto [i, name] : llvm::enumerate(program.getSymbols().getAsValueRange<StringAttr>())) {
    auto symbol = std::make_unique<fmt::SymbolT>();
    symbol->name = name.str();
    plan.symbols.push_back(std::move(symbol));
    exprOf[program.getBody().getArgument(i)] = exprs.add(fmt::ExprOp::symbol, i);
  }
  if (failed(addTensors(program.getInputs(), plan.inputs)) || failed(addTensors(program.getOutputs(), plan.outputs)))
    return failure();
  for (Operation &op : program.getBody().front()) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<plan::InputOp>([&](auto input) {
              addBuffer(input, fmt::Storage::input, input.getIndex(), zero, exprOf.lookup(input.getSize()), {});
              return success();
            })
            .Case<plan::OutputOp>([&](auto output) {
              addBuffer(output, fmt::Storage::output, output.getIndex(), zero, exprOf.lookup(output.getSize()), {});
              return success();
            })
            .Case<plan::WeightOp>([&](plan::WeightOp weight) {
              auto type = cast<ShapedType>(weight.getValue().getType());
              int64_t bytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
              uint32_t offset = exprs.addConstant(weights.add(weight.getValue()));
              addBuffer(weight, fmt::Storage::weight, 0, offset, exprs.addConstant(bytes), weight.getNameAttr());
              return success();
            })
            .Case<plan::ArenaOp>([&](plan::ArenaOp arena) {
              plan.arena_size = exprOf.lookup(arena.getSize());
              return success();
            })
            .Case<plan::ViewOp>([&](plan::ViewOp view) {
              addBuffer(view, fmt::Storage::arena, 0, exprOf.lookup(view.getOffset()), exprOf.lookup(view.getSize()),
                        view.getNameAttr());
              return success();
            })
            .Case<plan::RequireOp>([&](plan::RequireOp require) {
              auto check = std::make_unique<fmt::CheckT>();
              check->expr = exprOf.lookup(require.getValue());
              check->text = require.getText().str();
              plan.checks.push_back(std::move(check));
              return success();
            })
            .Case<plan::LaunchOp>([&](plan::LaunchOp launch) {
              addLaunch(launch);
              return success();
            })
            .Case<plan::CopyOp>([&](plan::CopyOp copy) {
              fmt::InstructionT &instruction = addInstruction(fmt::Opcode::copy, copy.getName());
              instruction.buffers = {bufferOf.lookup(copy.getSource()), bufferOf.lookup(copy.getTarget())};
              instruction.exprs = {exprOf.lookup(copy.getSize())};
              return success();
            })
            .Default([&](Operation *other) { return addArithmetic(*other); });
    if (failed(result))
      return failure();
  }
  addInstruction(fmt::Opcode::halt, "");
  plan.exprs = std::move(exprs.exprs);
  return success();
}

FailureOr<SerializedPlan> tenon::serializePlan(plan::ProgramOp program, StringRef modelName, WeightSection &weights) {
  Serializer serializer(program, weights);
  if (failed(serializer.run()))
    return failure();
  serializer.plan.model_name = modelName.str();
  serializer.plan.compiler = "tenon " TENON_VERSION;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fmt::Plan::Pack(builder, &serializer.plan), fmt::PlanIdentifier());
  std::string bytes(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  return SerializedPlan{std::move(bytes), std::move(serializer.kernelNames)};
}
