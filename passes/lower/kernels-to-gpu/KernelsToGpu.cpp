//===- KernelsToGpu.cpp - entry points of kernels for Vulkan --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVAttributes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_KERNELSTOGPU
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Every Vulkan device allows 128 invocations per workgroup; 64 are a multiple of every subgroup size.
static constexpr int32_t kWorkgroupSize = 64; // limit: of Vulkan
/// Every Vulkan device has 128 bytes of push constants.
static constexpr size_t kMaxPushConstants = 32; // limit: of Vulkan

/// Describes the capabilities that kernels may use. In SPIR-V 1.3, which MLIR follows, an entry point's interface lists
/// only inputs and outputs; features of later versions are extensions.
static spirv::TargetEnvAttr getTargetEnv(MLIRContext *context) {
  using spirv::Capability, spirv::Extension;
  auto triple = spirv::VerCapExtAttr::get(spirv::Version::V_1_3,
                                          {Capability::Shader, Capability::Int8, Capability::Int16, Capability::Int64,
                                           Capability::Float16, Capability::Float64,
                                           Capability::StorageBuffer16BitAccess, Capability::StorageBuffer8BitAccess},
                                          {Extension::SPV_KHR_storage_buffer_storage_class,
                                           Extension::SPV_KHR_16bit_storage, Extension::SPV_KHR_8bit_storage},
                                          context);
  return spirv::TargetEnvAttr::get(triple, spirv::getDefaultResourceLimits(context), spirv::ClientAPI::Vulkan);
}

/// Emits the number of this invocation. Grids have two dimensions, since one dimension is limited to 65535 groups.
static Value emitInvocationNumber(OpBuilder &b, Location loc) {
  Value group = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value row = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
  Value rowSize = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  Value size = arith::ConstantIndexOp::create(b, loc, kWorkgroupSize);
  Value before = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, row, rowSize), group);
  return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, before, size),
                               gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
}

/// Rejects types that the lowering would silently replace by others.
static LogicalResult checkTypes(func::FuncOp kernel) {
  auto isForeign = [](Type type) { return isa<FloatType>(type) && !type.isF16() && !type.isF32() && !type.isF64(); };
  for (Type type : kernel.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type); memref && isForeign(memref.getElementType()))
      return kernel.emitError("has a buffer of ") << memref.getElementType() << ", which Vulkan cannot hold";
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isForeign(type))
        return op->emitError("computes in ") << type << ", which Vulkan cannot: convert it to f32",
               WalkResult::interrupt();
    if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
      if (constant.value() != static_cast<int32_t>(constant.value()))
        return op->emitError("needs the index ") << constant.value() << ", and indices have 32 bits on Vulkan",
               WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Moves the body of `kernel`, on flat buffers, into a gpu.func in its own gpu.module.
static LogicalResult convertKernel(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  unsigned numSizes = 0;
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes().drop_back(2)) {
    auto buffer = dyn_cast<MemRefType>(type);
    numSizes += !buffer;
    if (buffer)
      types.push_back(MemRefType::Builder(buffer).setMemorySpace(
          spirv::StorageClassAttr::get(context, spirv::StorageClass::StorageBuffer)));
  }
  unsigned numBuffers = types.size();
  if (numSizes + 1 > kMaxPushConstants)
    return kernel.emitError("depends on ")
           << numSizes << " symbols, and Vulkan's push constants hold " << kMaxPushConstants - 1;
  types.push_back(MemRefType::get(numSizes + 1, b.getI32Type(), MemRefLayoutAttrInterface(),
                                  spirv::StorageClassAttr::get(context, spirv::StorageClass::PushConstant)));

  auto module = gpu::GPUModuleOp::create(b, loc, kernel.getName());
  module->setAttr(spirv::getTargetEnvAttrName(), getTargetEnv(context));
  b.setInsertionPointToStart(module.getBody());
  auto entry = gpu::GPUFuncOp::create(b, loc, kernel.getName(), b.getFunctionType(types, {}));
  entry->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  entry->setAttr(spirv::getEntryPointABIAttrName(), spirv::getEntryPointABIAttr(context, {kWorkgroupSize, 1, 1}));
  for (unsigned i = 0; i <= numBuffers; ++i)
    entry.setArgAttr(i, spirv::getInterfaceVarABIAttrName(),
                     spirv::getInterfaceVarABIAttr(/*descriptorSet=*/0, i, std::nullopt, context));

  Block &block = entry.getBody().front();
  b.setInsertionPointToStart(&block);
  auto loadInteger = [&](unsigned i) -> Value {
    Value position = arith::ConstantIndexOp::create(b, loc, i);
    Value value = memref::LoadOp::create(b, loc, block.getArgument(numBuffers), position);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  SmallVector<Value> values;
  unsigned nextBuffer = 0, nextSize = 0;
  for (Type type : kernel.getArgumentTypes().drop_back(2))
    values.push_back(isa<MemRefType>(type) ? Value(block.getArgument(nextBuffer++)) : loadInteger(nextSize++));
  Value tiles = loadInteger(numSizes), tile = emitInvocationNumber(b, loc);
  values.push_back(tile);
  values.push_back(arith::AddIOp::create(b, loc, tile, arith::ConstantIndexOp::create(b, loc, 1)));
  Value inRange = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, tile, tiles);
  auto guard = scf::IfOp::create(b, loc, inRange);
  gpu::ReturnOp::create(b, loc);

  // Memory of an invocation must be declared at the start of its function.
  auto stack = spirv::StorageClassAttr::get(context, spirv::StorageClass::Function);
  for (auto alloca : llvm::make_early_inc_range(kernel.getOps<memref::AllocaOp>())) {
    alloca.getResult().setType(MemRefType::Builder(alloca.getType()).setMemorySpace(stack));
    alloca->moveBefore(&block, block.begin());
  }
  Block &body = kernel.getBody().front();
  body.getTerminator()->erase();
  for (auto [argument, value] : llvm::zip(body.getArguments(), values))
    argument.replaceAllUsesWith(value);
  Block &then = *guard.thenBlock();
  then.getOperations().splice(then.begin(), body.getOperations());
  kernel.erase();
  return success();
}

namespace {
struct KernelsToGpu : public tenon::impl::KernelsToGpuBase<KernelsToGpu> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (kernel->hasAttr(kKernelAttr) && (failed(checkTypes(kernel)) || failed(convertKernel(kernel))))
        return signalPassFailure();
  }
};
} // namespace
