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
#include "passes/Kernel.h"
#include "passes/Unsupported.h"
#include "passes/cost/MemoryTraffic.h"
#include "runtime/format/Instruction.h"
#include "runtime/format/Layout.h"
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
    assert(dim.getKind() <= AffineExprKind::LAST_AFFINE_BINARY_OP && "constants and symbols are added before");
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
  LogicalResult addBlock(Block &block);
  LogicalResult addOp(Operation &op);
  LogicalResult addBufferOp(Operation &op);
  LogicalResult addInstructionOp(Operation &op);
  void addCheck(Value value, StringRef text);
  uint32_t addElement(Value buffer, int64_t position);
  void fillSymbolRanges();
  LogicalResult addIf(plan::IfOp op);
  LogicalResult addLoop(plan::LoopOp op);
  uint32_t getPosition() const { return plan.instructions.size(); }
  uint32_t getExpr(Value size) const { return find(exprOf, size); }
  uint32_t getBuffer(Value buffer) const { return find(bufferOf, buffer); }
  uint32_t getBlock(Value buffer) const { return find(blockOf, buffer); }
  /// The number of what was serialized before.
  static uint32_t find(const llvm::DenseMap<Value, uint32_t> &numbers, Value value) {
    auto it = numbers.find(value);
    assert(it != numbers.end() && "an operand is serialized before what uses it");
    return it->second;
  }
  LogicalResult addArithmetic(Operation &op);
  void addBuffer(Value value, fmt::Storage storage, uint32_t index, uint32_t offset, uint32_t size, StringAttr name);
  fmt::InstructionT &addInstruction(fmt::Opcode opcode, StringRef name);
  void addLaunch(plan::LaunchOp launch);
  LogicalResult addHostCall(plan::HostCallOp call);
  LogicalResult addState(plan::StateOp state);

  plan::ProgramOp program;
  WeightSection &weights;
  ExprTable exprs;
  llvm::DenseMap<Value, uint32_t> exprOf, bufferOf, blockOf;
  llvm::StringMap<uint32_t> kernelOf;
};

} // namespace

/// The dialect numbers roles as the format does.
static fmt::Role getFormatRole(Role role) {
  static_assert(static_cast<int>(Role::value) == static_cast<int>(fmt::Role::value) &&
                    static_cast<int>(Role::elements) == static_cast<int>(fmt::Role::elements) &&
                    static_cast<int>(Role::shapes) == static_cast<int>(fmt::Role::shapes) &&
                    static_cast<int>(Role::has) == static_cast<int>(fmt::Role::has) &&
                    static_cast<int>(Role::bytes) == static_cast<int>(fmt::Role::bytes) &&
                    static_cast<int>(Role::ends) == static_cast<int>(fmt::Role::ends) &&
                    getMaxEnumValForRole() == static_cast<uint32_t>(fmt::Role::MAX),
                "Tenon_Role in dialects/tenon/TenonBase.td follows Role in plan.fbs");
  return static_cast<fmt::Role>(role);
}

LogicalResult Serializer::addTensors(ArrayAttr descriptions, std::vector<std::unique_ptr<fmt::TensorT>> &tensors) {
  auto *dialect = program->getContext()->getOrLoadDialect<TenonDialect>();
  for (auto description : descriptions.getAsRange<DictionaryAttr>()) {
    auto tensor = std::make_unique<fmt::TensorT>();
    tensor->name = description.getAs<StringAttr>("name").str();
    Type type = description.getAs<TypeAttr>("type").getValue();
    std::optional<fmt::DType> dtype = getDType(type);
    if (!dtype)
      return emitUnsupported(program, "tensor '")
             << tensor->name << "' has element type " << type << ", which an artifact cannot hold";
    tensor->dtype = *dtype;
    if (auto role = description.getAs<RoleAttr>("role"))
      tensor->role = getFormatRole(role.getValue());
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
  assert(op.getNumOperands() == 2 && op.getNumResults() == 1 && "arithmetic on sizes has two operands and a result");
  exprOf[op.getResult(0)] = exprs.add(*kind, getExpr(op.getOperand(0)), getExpr(op.getOperand(1)));
  return success();
}

void Serializer::addBuffer(Value value, fmt::Storage storage, uint32_t index, uint32_t offset, uint32_t size,
                           StringAttr name) {
  assert(!bufferOf.contains(value) && "a buffer is serialized once");
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

/// Stores FLOPs and bytes as numbers if both are constant, otherwise as expressions of the launch's sizes.
static void setWork(fmt::KernelT &kernel, plan::LaunchOp launch) {
  auto flops = launch->getAttrOfType<AffineMapAttr>(kFlopsAttr),
       bytes = launch->getAttrOfType<AffineMapAttr>(kBytesAttr);
  if (!flops || !bytes)
    return;
  AffineExpr amounts[] = {flops.getValue().getResult(0), bytes.getValue().getResult(0)};
  std::optional<int64_t> constants[] = {getConstant(amounts[0]), getConstant(amounts[1])};
  if (constants[0] && constants[1]) {
    kernel.flops = *constants[0];
    kernel.bytes = *constants[1];
    return;
  }
  ExprTable exprs;
  uint32_t indices[2];
  for (auto [amount, index] : llvm::zip(amounts, indices))
    index =
        exprs.addDim(amount, [&](AffineSymbolExpr size) { return exprs.add(fmt::ExprOp::symbol, size.getPosition()); });
  kernel.work = std::move(exprs.exprs);
  kernel.work_flops = indices[0];
  kernel.work_bytes = indices[1];
}

void Serializer::addLaunch(plan::LaunchOp launch) {
  // What comes between two launches separates them.
  bool isConcurrent = launch.getBeside() && !plan.instructions.empty() &&
                      plan.instructions.back()->op == static_cast<uint8_t>(fmt::Opcode::launch);
  auto [it, isNew] = kernelOf.try_emplace(launch.getKernel(), plan.kernels.size());
  if (isNew) {
    auto kernel = std::make_unique<fmt::KernelT>();
    kernel->name = launch.getKernel().str();
    kernel->display = launch.getName().str();
    kernel->results = launch.getOutputs().size();
    setWork(*kernel, launch);
    plan.kernels.push_back(std::move(kernel));
    kernelNames.push_back(launch.getKernel().str());
  }
  fmt::InstructionT &instruction = addInstruction(fmt::Opcode::launch, launch.getName());
  assert(it->second < plan.kernels.size() && "a launch has a kernel of the plan");
  instruction.a = it->second;
  instruction.b = getExpr(launch.getTiles());
  instruction.c = isConcurrent;
  for (Value input : launch.getInputs())
    instruction.buffers.push_back(getBuffer(input));
  for (Value output : launch.getOutputs())
    instruction.buffers.push_back(getBuffer(output));
  for (Value size : launch.getSizes())
    instruction.exprs.push_back(getExpr(size));
}

static std::unique_ptr<fmt::HostAttributeT> makeHostAttribute(NamedAttribute attribute) {
  auto made = std::make_unique<fmt::HostAttributeT>();
  made->name = attribute.getName().str();
  if (auto ints = dyn_cast<DenseI64ArrayAttr>(attribute.getValue())) {
    made->kind = fmt::HostAttributeKind::ints;
    made->ints.assign(ints.asArrayRef().begin(), ints.asArrayRef().end());
  } else if (auto floats = dyn_cast<DenseF64ArrayAttr>(attribute.getValue())) {
    made->kind = fmt::HostAttributeKind::floats;
    made->floats.assign(floats.asArrayRef().begin(), floats.asArrayRef().end());
  } else {
    made->kind = fmt::HostAttributeKind::text;
    made->text = cast<StringAttr>(attribute.getValue()).str();
  }
  return made;
}

LogicalResult Serializer::addHostCall(plan::HostCallOp call) {
  auto made = std::make_unique<fmt::HostCallT>();
  made->plugin = call.getPlugin().str();
  made->domain = call.getDomain().str();
  made->operator_name = call.getCallee().str();
  made->infers = call.getInfers();
  auto makeOperand = [&](Type type) -> std::unique_ptr<fmt::HostOperandT> {
    auto operand = std::make_unique<fmt::HostOperandT>();
    auto tensor = cast<RankedTensorType>(type);
    std::optional<fmt::DType> dtype = getDType(tensor.getElementType());
    if (!dtype || tensor.getRank() > fmt::kMaxHostRank)
      return nullptr;
    operand->dtype = *dtype;
    operand->rank = tensor.getRank();
    return operand;
  };
  auto inputTypes = call.getInputTypes().getAsValueRange<TypeAttr>();
  auto next = inputTypes.begin();
  for (bool isPresent : call.getPresent()) {
    auto operand = isPresent ? makeOperand(*next++) : std::make_unique<fmt::HostOperandT>();
    if (!operand)
      return emitUnsupported(call, "has an operand that no plug-in takes: ") << call.getInputTypes();
    operand->present = isPresent;
    made->inputs.push_back(std::move(operand));
  }
  for (Type type : call.getResultTypes().getAsValueRange<TypeAttr>()) {
    auto operand = makeOperand(type);
    if (!operand)
      return emitUnsupported(call, "has a result that no plug-in gives: ") << type;
    made->results.push_back(std::move(operand));
  }
  for (NamedAttribute attribute : call.getParameters())
    made->attributes.push_back(makeHostAttribute(attribute));
  fmt::InstructionT &instruction = addInstruction(fmt::Opcode::host_call, call.getName());
  instruction.a = plan.host_calls.size();
  plan.host_calls.push_back(std::move(made));
  for (Value buffer : llvm::concat<Value>(SmallVector<Value>(call.getInputs()), SmallVector<Value>(call.getOutputs())))
    instruction.buffers.push_back(getBuffer(buffer));
  for (Value size : call.getSizes())
    instruction.exprs.push_back(getExpr(size));
  return success();
}

LogicalResult Serializer::addState(plan::StateOp state) {
  auto type = cast<RankedTensorType>(state.getType());
  std::optional<fmt::DType> dtype = getDType(type.getElementType());
  if (!dtype)
    return emitUnsupported(state, "is a state of ") << type.getElementType() << ", which artifacts do not hold";
  auto made = std::make_unique<fmt::StateT>();
  made->name = state.getName().str();
  made->dtype = *dtype;
  made->dims.assign(type.getShape().begin(), type.getShape().end());
  made->kind = state.getRing()   ? fmt::StateKind::ring
               : state.getLive() ? fmt::StateKind::growing
                                 : fmt::StateKind::whole;
  if (state.getLive())
    made->live = *state.getLive();
  if (state.getRing())
    made->slot = *state.getRing();
  if (state.getNext())
    made->next = getExpr(state.getNext());
  made->sequence = state.getSequence();
  if (std::optional<ElementsAttr> initial = state.getInitial()) {
    made->has_initial = true;
    made->initial = weights.add(*initial);
  }
  int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  addBuffer(state, fmt::Storage::state, plan.states.size(), exprs.addConstant(0), exprs.addConstant(bytes),
            state.getNameAttr());
  plan.states.push_back(std::move(made));
  return success();
}

void Serializer::addCheck(Value value, StringRef text) {
  auto check = std::make_unique<fmt::CheckT>();
  check->expr = getExpr(value);
  check->text = text.str();
  plan.checks.push_back(std::move(check));
}

/// Buffers, which are no instructions.
LogicalResult Serializer::addBufferOp(Operation &op) {
  uint32_t zero = exprs.addConstant(0);
  if (auto input = dyn_cast<plan::InputOp>(op)) {
    addBuffer(input, fmt::Storage::input, input.getIndex(), zero, getExpr(input.getSize()), {});
  } else if (auto output = dyn_cast<plan::OutputOp>(op)) {
    addBuffer(output, fmt::Storage::output, output.getIndex(), zero, getExpr(output.getSize()), {});
  } else if (auto weight = dyn_cast<plan::WeightOp>(op)) {
    auto type = cast<ShapedType>(weight.getValue().getType());
    int64_t bytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
    uint32_t offset = exprs.addConstant(weights.add(weight.getValue()));
    addBuffer(weight, fmt::Storage::weight, 0, offset, exprs.addConstant(bytes), weight.getNameAttr());
  } else if (auto state = dyn_cast<plan::StateOp>(op)) {
    return addState(state);
  } else if (auto arena = dyn_cast<plan::ArenaOp>(op)) {
    plan.arena_size = getExpr(arena.getSize());
  } else if (auto view = dyn_cast<plan::ViewOp>(op)) {
    addBuffer(view, fmt::Storage::arena, 0, getExpr(view.getOffset()), getExpr(view.getSize()), view.getNameAttr());
    if (view.getRoom()) {
      plan.buffers.back()->start = getExpr(view.getStart());
      plan.buffers.back()->room = getExpr(view.getRoom());
    }
  } else if (auto heap = dyn_cast<plan::HeapOp>(op)) {
    plan.heap_blocks = std::max<uint32_t>(plan.heap_blocks, heap.getBlock() + 1);
    blockOf[heap] = heap.getBlock();
    addBuffer(heap, fmt::Storage::heap, heap.getBlock(), getExpr(heap.getOffset()), getExpr(heap.getSize()),
              heap.getNameAttr());
  } else if (auto alias = dyn_cast<plan::AliasOp>(op)) {
    const fmt::BufferT &whole = *plan.buffers[getBuffer(alias.getSource())];
    uint32_t offset = exprs.add(fmt::ExprOp::add, whole.offset, getExpr(alias.getOffset()));
    addBuffer(alias, whole.storage, whole.index, offset, getExpr(alias.getSize()),
              StringAttr::get(op.getContext(), whole.name));
  } else {
    return addInstructionOp(op);
  }
  return success();
}

LogicalResult Serializer::addInstructionOp(Operation &op) {
  if (auto copy = dyn_cast<plan::CopyOp>(op)) {
    fmt::InstructionT &instruction = addInstruction(fmt::Opcode::copy, copy.getName());
    instruction.buffers = {getBuffer(copy.getSource()), getBuffer(copy.getTarget())};
    instruction.exprs = {getExpr(copy.getSize())};
  } else if (auto seed = dyn_cast<plan::RunSeedOp>(op)) {
    addInstruction(fmt::Opcode::run_seed, seed.getName()).buffers = {getBuffer(seed.getTarget())};
  } else if (auto release = dyn_cast<plan::ReleaseOp>(op)) {
    addInstruction(fmt::Opcode::release, release.getName()).buffers = {getBuffer(release.getWeight())};
  } else if (auto bind = dyn_cast<plan::BindOp>(op)) {
    fmt::InstructionT &instruction = addInstruction(fmt::Opcode::bind_symbol, bind.getName());
    instruction.a = bind.getSymbol();
    instruction.buffers = {addElement(bind.getBuffer(), bind.getPosition())};
    assert(bind.getSymbol() < plan.symbols.size() && "the verifier wants a symbol of the program");
    plan.symbols[bind.getSymbol()]->min = bind.getMin();
  } else if (auto set = dyn_cast<plan::SetOp>(op)) {
    fmt::InstructionT &instruction = addInstruction(fmt::Opcode::set_symbol, set.getName());
    instruction.a = set.getSymbol();
    instruction.exprs = {getExpr(set.getValue())};
  } else if (auto reserve = dyn_cast<plan::ReserveOp>(op)) {
    fmt::InstructionT &instruction = addInstruction(fmt::Opcode::reserve, reserve.getName());
    instruction.a = getBlock(reserve.getBuffer());
    instruction.b = reserve.getKeep();
    instruction.exprs = {getExpr(reserve.getSize())};
  } else if (auto check = dyn_cast<plan::CheckOp>(op)) {
    addInstruction(fmt::Opcode::check, check.getName()).a = plan.checks.size();
    addCheck(check.getValue(), check.getText());
  } else {
    return addArithmetic(op);
  }
  return success();
}

/// Eight bytes of a buffer.
uint32_t Serializer::addElement(Value buffer, int64_t position) {
  assert(position >= 0 && "the verifier refuses negative positions");
  uint32_t whole = getBuffer(buffer);
  if (position == 0)
    return whole;
  auto part = std::make_unique<fmt::BufferT>(*plan.buffers[whole]);
  part->offset = exprs.add(fmt::ExprOp::add, part->offset, exprs.addConstant(position * 8));
  part->size = exprs.addConstant(8);
  plan.buffers.push_back(std::move(part));
  return plan.buffers.size() - 1;
}

LogicalResult Serializer::addIf(plan::IfOp op) {
  uint32_t branch = getPosition();
  addInstruction(fmt::Opcode::branch_if_zero, op.getName()).buffers = {getBuffer(op.getCondition())};
  if (failed(addBlock(op.getThenBody().front())))
    return failure();
  uint32_t jump = getPosition();
  addInstruction(fmt::Opcode::jump, op.getName());
  plan.instructions[branch]->a = getPosition();
  assert(branch < jump && "a branch stands before the jump over its other block");
  if (failed(addBlock(op.getElseBody().front())))
    return failure();
  plan.instructions[jump]->a = getPosition();
  return success();
}

LogicalResult Serializer::addLoop(plan::LoopOp op) {
  uint32_t branch = getPosition();
  addInstruction(fmt::Opcode::branch_if_zero, op.getName()).buffers = {getBuffer(op.getCondition())};
  if (failed(addBlock(op.getBody().front())))
    return failure();
  addInstruction(fmt::Opcode::jump, op.getName()).a = branch;
  plan.instructions[branch]->a = getPosition();
  return success();
}

LogicalResult Serializer::addOp(Operation &op) {
  if (auto require = dyn_cast<plan::RequireOp>(op))
    addCheck(require.getValue(), require.getText());
  else if (auto launch = dyn_cast<plan::LaunchOp>(op))
    addLaunch(launch);
  else if (auto call = dyn_cast<plan::HostCallOp>(op))
    return addHostCall(call);
  else if (auto branch = dyn_cast<plan::IfOp>(op))
    return addIf(branch);
  else if (auto loop = dyn_cast<plan::LoopOp>(op))
    return addLoop(loop);
  else
    return addBufferOp(op);
  return success();
}

LogicalResult Serializer::addBlock(Block &block) {
  for (Operation &op : block)
    if (failed(addOp(op)))
      return failure();
  return success();
}

/// Stores the range of expressions that an instruction which binds a symbol evaluates: from the first one that depends
/// on the symbol to the last.
void Serializer::fillSymbolRanges() {
  size_t count = exprs.exprs.size();
  // For each symbol, the range of expressions that depend on it, found by one walk per bound symbol.
  llvm::DenseMap<uint32_t, std::pair<uint32_t, uint32_t>> ranges;
  for (auto &instruction : plan.instructions) {
    auto op = static_cast<fmt::Opcode>(instruction->op);
    if (op != fmt::Opcode::bind_symbol && op != fmt::Opcode::set_symbol)
      continue;
    auto [it, isNew] = ranges.try_emplace(instruction->a, std::pair<uint32_t, uint32_t>(0, 0));
    if (isNew) {
      std::vector<bool> depends(count);
      for (uint32_t i = 0; i < count; ++i) {
        const fmt::Expr &expr = exprs.exprs[i];
        if (expr.op() == fmt::ExprOp::symbol)
          depends[i] = expr.a() == instruction->a;
        else if (expr.op() != fmt::ExprOp::constant)
          depends[i] = depends[expr.a()] || depends[expr.b()];
        if (!depends[i])
          continue;
        if (it->second.second == 0)
          it->second.first = i;
        it->second.second = i + 1;
      }
    }
    assert(it->second.first <= it->second.second && it->second.second <= count &&
           "expressions that depend on a symbol are a range");
    std::tie(instruction->b, instruction->c) = it->second;
  }
}

LogicalResult Serializer::run() {
  plan.arena_size = exprs.addConstant(0);
  plan.scratch_size = exprs.addConstant(program.getScratch().value_or(0));
  DictionaryAttr ranges = program.getRangesAttr();
  for (auto [i, name] : llvm::enumerate(program.getSymbols().getAsValueRange<StringAttr>())) {
    auto symbol = std::make_unique<fmt::SymbolT>();
    symbol->name = name.str();
    if (auto range = ranges ? ranges.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr()) {
      symbol->min = range[0];
      symbol->max = range[1];
    }
    plan.symbols.push_back(std::move(symbol));
    exprOf[program.getBody().getArgument(i)] = exprs.add(fmt::ExprOp::symbol, i);
  }
  if (failed(addTensors(program.getInputs(), plan.inputs)) || failed(addTensors(program.getOutputs(), plan.outputs)))
    return failure();
  if (failed(addBlock(program.getBody().front())))
    return failure();
  addInstruction(fmt::Opcode::halt, "");
  fillSymbolRanges();
  plan.exprs = std::move(exprs.exprs);
  return success();
}

FailureOr<SerializedPlan> tenon::serializePlan(plan::ProgramOp program, StringRef modelName, WeightSection &weights) {
  Serializer serializer(program, weights);
  if (failed(serializer.run()))
    return failure();
  serializer.plan.model_name = modelName.str();
  serializer.plan.compiler = "tenon " TENON_VERSION;
  if (std::optional<StringRef> sizes = program.getSizes())
    serializer.plan.sizes = sizes->str();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fmt::Plan::Pack(builder, &serializer.plan), fmt::PlanIdentifier());
  std::string bytes(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  return SerializedPlan{std::move(bytes), std::move(serializer.kernelNames)};
}
