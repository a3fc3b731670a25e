//===- PrepackWeights.cpp - weights in the order that kernels read them ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Panels of the packed operand of a matrix product, as in Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication" (2008).
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Threading.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/PanelPacking.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-prepack-weights"

namespace tenon {
#define GEN_PASS_DEF_PREPACKWEIGHTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Returns the packing that a use requests, if its operation takes a path that reads panels.
static std::optional<PackedDims> getWantedDims(OpOperand &use) {
  auto path = use.getOwner()->getAttrOfType<StringAttr>(kPathAttr);
  StringRef name = path ? path.getValue() : StringRef();
  std::optional<PackedDims> dims = name == kPlainPath ? std::nullopt : getPackedDims(use);
  int64_t bits;
  if (dims && name.consume_front(kFixedPath) && !name.getAsInteger(10, bits)) {
    dims->bits = bits;
    dims->packedI32Axis = 1 - dims->axis;
    dims->columns = kPanelColumns;
  }
  return dims;
}

/// Gives each product its own conversion of a weight of fewer bits, of which CSE leaves one for all products that have
/// the weight: the kernel of each converts what it reads of the panels.
static void repeatConversions(WeightOp weight) {
  for (Operation *user : llvm::make_early_inc_range(weight->getUsers())) {
    if (!isa<CastOp, DequantizeOp>(user))
      continue;
    OpBuilder b(user);
    for (OpOperand &use : llvm::make_early_inc_range(user->getUses()))
      if (isa<ContractOp, ConvolveOp>(use.getOwner()) && !user->hasOneUse())
        use.set(b.clone(*user)->getResult(0));
  }
}

namespace {
struct PrepackWeights : public tenon::impl::PrepackWeightsBase<PrepackWeights> {
  void runOnOperation() override {
    // Values of another function may have been allocated at the same addresses.
    packedOf.clear();
    fixedOf.clear();
    SmallVector<WeightOp> weights;
    getOperation().walk([&](WeightOp weight) { weights.push_back(weight); });
    llvm::for_each(weights, repeatConversions);
    for (WeightOp weight : weights) {
      std::optional<PackedDims> packed = getEmbeddingDims(weight);
      for (OpOperand &use : llvm::make_early_inc_range(weight->getUses()))
        if (std::optional<PackedDims> dims = getWantedDims(use); dims && replace(use, weight, *dims))
          packed = dims;
      // If an embedding is also the output matrix, it is stored once: a lookup computes the positions of its elements
      // in the panels.
      for (OpOperand &use : llvm::make_early_inc_range(weight->getUses()))
        if (packed && isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 0)
          replace(use, weight, *packed);
    }
    for (WeightOp weight : weights)
      if (weight->use_empty())
        weight.erase();
  }

private:
  /// Whether the weight can be packed so.
  bool replace(OpOperand &use, WeightOp weight, PackedDims dims) {
    Packed packed = dims.bits ? getFixed(weight, dims) : getPacked(weight, dims);
    LDBG() << (packed.weight ? "packs" : "cannot read") << " the weight at " << weight.getLoc() << " along dimension "
           << dims.axis << " for " << use.getOwner()->getName();
    if (!packed.weight)
      return false;
    OpBuilder b(use.getOwner());
    Location loc = use.getOwner()->getLoc();
    auto toAttr = [&](std::optional<int64_t> dim) { return dim ? b.getI64IntegerAttr(*dim) : IntegerAttr(); };
    RankedTensorType type = weight.getType();
    Type stored = dims.bits ? RankedTensorType::get(type.getShape(), b.getI32Type()) : type;
    Value unpacked = UnpackOp::create(b, loc, stored, packed.weight, b.getI64IntegerAttr(dims.axis),
                                      toAttr(dims.k4Axis), toAttr(dims.packedI32Axis), toAttr(dims.bits));
    if (packed.scales) {
      // One for the whole of a column.
      SmallVector<int64_t> shape(2, 1);
      shape[dims.axis] = type.getDimSize(dims.axis);
      Value scales = UnpackOp::create(b, loc, RankedTensorType::get(shape, b.getF32Type()), packed.scales,
                                      b.getI64IntegerAttr(dims.axis), IntegerAttr(), IntegerAttr(), IntegerAttr());
      unpacked = DequantizeOp::create(b, loc, type, unpacked, scales, Value(), *dims.packedI32Axis,
                                      type.getDimSize(*dims.packedI32Axis), TypeAttr());
    }
    use.set(unpacked);
    return true;
  }

  struct Packed {
    WeightOp weight, scales = {};
  };

  static WeightOp createWeight(OpBuilder &b, WeightOp source, RankedTensorType type, StringRef key,
                               AsmResourceBlob blob) {
    auto weight = WeightOp::create(b, source.getLoc(), createElements(type, key, std::move(blob)));
    weight.setNameAttr(deriveName(source.getNameAttr(), key));
    return weight;
  }

  /// Returns an f32 matrix as fixed-point numbers, shared by all uses that request the same format.
  Packed getFixed(WeightOp weight, PackedDims dims) {
    Packed &known = fixedOf[{weight, dims.axis, *dims.bits}];
    std::optional<ArrayRef<char>> bytes = getBytes(weight.getValue());
    if (known.weight || !bytes)
      return known;
    RankedTensorType type = weight.getType();
    assert(type.getRank() == 2 && type.getElementType().isF32() && "a matrix of f32 becomes one of fixed numbers");
    SmallVector<int64_t> strides = computeStrides(type.getShape());
    FixedPacking packing{*dims.bits, type.getDimSize(*dims.packedI32Axis), strides[*dims.packedI32Axis],
                         type.getDimSize(dims.axis), strides[dims.axis]};
    SmallVector<int64_t> panels{packing.getNumPanels(), packing.getNumWords(), kPanelColumns},
        ofScales{panels[0], 1, kPanelColumns};
    OpBuilder b(weight);
    AsmResourceBlob words = allocateZeros(computeProduct(panels) * sizeof(uint32_t)),
                    scales = allocateZeros(computeProduct(ofScales) * sizeof(float));
    const auto *source = reinterpret_cast<const float *>(bytes->data());
    auto *wordsOf = reinterpret_cast<uint32_t *>(words.getMutableData().data());
    auto *scalesOf = reinterpret_cast<float *>(scales.getMutableData().data());
    parallelFor(b.getContext(), 0, packing.getNumPanels(), [&](size_t panel) {
      packFixedPanel(packing, panel, source, wordsOf + panel * packing.getNumWords() * kPanelColumns,
                     scalesOf + panel * kPanelColumns);
    });
    known.weight = createWeight(b, weight, RankedTensorType::get(panels, b.getI32Type()), "fixed", std::move(words));
    known.scales =
        createWeight(b, weight, RankedTensorType::get(ofScales, b.getF32Type()), "scales", std::move(scales));
    return known;
  }

  /// One for all uses that want the same.
  Packed getPacked(WeightOp weight, PackedDims dims) {
    WeightOp &known = packedOf[{weight, dims.axis, dims.packedI32Axis.value_or(-1), dims.columns}];
    std::optional<ArrayRef<char>> bytes = getBytes(weight.getValue());
    if (known || !bytes)
      return {known};
    SmallVector<int64_t> panels;
    OpBuilder b(weight);
    RankedTensorType type = weight.getType();
    SmallVector<uint32_t> words;
    if (dims.packedI32Axis) {
      IntegerPacking packing = getIntegerPacking(type, *dims.packedI32Axis);
      words.resize(packing.outer * packing.getNumWords() * packing.inner);
      packIntegers(packing, bytes->data(), words.data());
      SmallVector<int64_t> shape(type.getShape());
      shape[*dims.packedI32Axis] = packing.getNumWords();
      type = RankedTensorType::get(shape, b.getI32Type());
      bytes = ArrayRef(reinterpret_cast<const char *>(words.data()), words.size() * sizeof(uint32_t));
    }
    AsmResourceBlob blob =
        dims.k4Axis ? makeK4Panels(type, dims, bytes->data(), panels) : makePanels(type, dims, bytes->data(), panels);
    known = createWeight(b, weight, RankedTensorType::get(panels, type.getElementType()), "packed", std::move(blob));
    return {known};
  }

  static AsmResourceBlob allocateZeros(int64_t size) {
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(size, 64, /*dataIsMutable=*/true);
    std::memset(blob.getMutableData().data(), 0, size);
    return blob;
  }

  /// The packed bytes, and in `panels` their shape.
  static AsmResourceBlob makePanels(RankedTensorType type, PackedDims dims, const char *source,
                                    SmallVector<int64_t> &panels) {
    ArrayRef<int64_t> shape = type.getShape();
    int64_t axis = dims.axis;
    assert(axis >= 0 && axis < type.getRank() && dims.columns > 0 && "panels are along a dimension of the weight");
    PanelPacking packing{1, shape[axis], 1, dims.columns, llvm::divideCeil(type.getElementTypeBitWidth(), 8)};
    panels.push_back(packing.getNumPanels());
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (i != dims.axis) {
        (i < dims.axis ? packing.outer : packing.inner) *= shape[i];
        panels.push_back(shape[i]);
      }
    panels.push_back(dims.columns);
    AsmResourceBlob blob = allocateZeros(packing.getPackedBytes());
    packPanels(packing, source, blob.getMutableData().data());
    return blob;
  }

  /// Integers that follow each other along `axis` share words.
  static IntegerPacking getIntegerPacking(RankedTensorType type, int64_t axis) {
    ArrayRef<int64_t> shape = type.getShape();
    return {computeProduct(shape.take_front(axis)), shape[axis], computeProduct(shape.drop_front(axis + 1)),
            type.getElementTypeBitWidth()};
  }

  /// The same of quads.
  static AsmResourceBlob makeK4Panels(RankedTensorType type, PackedDims dims, const char *source,
                                      SmallVector<int64_t> &panels) {
    ArrayRef<int64_t> shape = type.getShape();
    SmallVector<int64_t> strides = computeStrides(shape);
    assert(*dims.k4Axis != dims.axis && "columns and depth are two dimensions");
    K4Packing packing{1, 0, shape[*dims.k4Axis], strides[*dims.k4Axis], shape[dims.axis], strides[dims.axis]};
    panels.push_back(packing.getNumPanels());
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (i != dims.axis && i != dims.k4Axis) {
        packing.outer *= shape[i];
        packing.outerStride = strides[i];
        panels.push_back(shape[i]);
      }
    panels.append({packing.getNumK4Groups(), 4 * kPanelColumns});
    AsmResourceBlob blob = allocateZeros(packing.getPackedBytes());
    packK4(packing, source, blob.getMutableData().data());
    return blob;
  }

  llvm::DenseMap<std::tuple<Operation *, int64_t, int64_t, int64_t>, WeightOp> packedOf;
  llvm::DenseMap<std::tuple<Operation *, int64_t, int64_t>, Packed> fixedOf;
};
} // namespace
