//===- Schedule.cpp - how a contraction is computed -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ScheduleRequest.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon::kernel;

/// Parses a list of iteration counts, with `?` for no bound.
static ParseResult parseLoopSizes(AsmParser &parser, SmallVector<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    int64_t &size = sizes.emplace_back(ShapedType::kDynamic);
    return succeeded(parser.parseOptionalQuestion()) ? ParseResult(success()) : parser.parseInteger(size);
  });
}

static void printLoopSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << '[';
  llvm::interleaveComma(sizes, printer, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      printer << '?';
    else
      printer << size;
  });
  printer << ']';
}

static ParseResult parseNumbers(AsmParser &parser, SmallVector<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(numbers.emplace_back()); });
}

static void printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

#include "KernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "KernelAttrs.cpp.inc"

void KernelDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "KernelAttrs.cpp.inc"
      >();
}

ScheduleAttr ScheduleAttr::get(MLIRContext *context, const ScheduleFields &fields) {
  return get(context, fields.microKernel, fields.tile, fields.packing, fields.lastRows, fields.rowVersions,
             fields.manyRows, fields.kBlock, fields.prefetch, fields.prefetches, fields.block, fields.unroll,
             fields.vectorBits, fields.columnsSlowest);
}

ScheduleFields ScheduleAttr::getFields() const {
  return {getMicroKernel(),   llvm::to_vector(getTile()),
          getPacking(),       getLastRows(),
          getRowVersions(),   getManyRows(),
          getKBlock(),        getPrefetch(),
          getPrefetches(),    llvm::to_vector(getBlock()),
          getUnroll(),        getVectorBits(),
          getColumnsSlowest()};
}

static LogicalResult verifyVectors(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> block,
                                   int64_t unroll, int64_t vectorBits) {
  bool hasExtents = llvm::all_of(block, [](int64_t extent) { return extent > 0; });
  if (!block.empty() && (block.size() != 2 || !hasExtents))
    return emitError() << "'block' has " << block.size() << " extents"
                       << (hasExtents ? "" : " that are not all above 0") << ", expected rows and vectors";
  // Steps of packed rows that are read together are contiguous in a power of two.
  if (unroll < 0 || unroll > 16 || (unroll != 0 && !llvm::isPowerOf2_64(unroll)))
    return emitError() << "'unroll' is " << unroll << ", expected a power of two up to 16, or 0";
  if (vectorBits != 0 && vectorBits != 128 && vectorBits != 256 && vectorBits != 512)
    return emitError() << "'vector_bits' is " << vectorBits << ", expected 128, 256, 512, or 0";
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, MicroKernel, ArrayRef<int64_t> tile,
                                   Packing packing, int64_t lastRows, int64_t rowVersions, bool manyRows,
                                   int64_t kBlock, int64_t prefetch, bool, ArrayRef<int64_t> block, int64_t unroll,
                                   int64_t vectorBits, bool) {
  if (failed(verifyVectors(emitError, block, unroll, vectorBits)))
    return failure();
  for (int64_t size : tile)
    if (size < 0 && !ShapedType::isDynamic(size))
      return emitError() << "a loop of a tile has " << size << " iterations, expected none or more";
  for (auto [name, value] : {std::pair("last_rows", lastRows), std::pair("row_versions", rowVersions),
                             std::pair("k_block", kBlock), std::pair("prefetch", prefetch)})
    if (value < 0)
      return emitError() << "'" << name << "' is " << value << ", expected 0 or more";
  if (tile.empty() && packing != Packing::none)
    return emitError() << "packing needs a 'tile', whose size says how much is packed";
  if (tile.empty() && (lastRows != 0 || kBlock != 0))
    return emitError() << "'" << (lastRows ? "last_rows" : "k_block") << "' needs a 'tile'";
  if (manyRows && rowVersions != 0)
    return emitError() << "'many_rows' says that there are never few rows, but 'row_versions' is " << rowVersions;
  if (lastRows != 0 && (manyRows || rowVersions != 0))
    return emitError() << "'last_rows' is of a static number of rows, '" << (manyRows ? "many_rows" : "row_versions")
                       << "' of a dynamic one";
  return success();
}

LogicalResult ContractionAttr::verify(function_ref<InFlightDiagnostic()> emitError, ContractionKind kind, int64_t row,
                                      int64_t panel, bool grouped, bool, int64_t inner, int64_t step, int64_t block) {
  if (row < -1 || panel < 0)
    return emitError() << "'row' is " << row << " and 'panel' " << panel << ", expected a loop or -1, and 0 or more";
  if (grouped && panel == 0)
    return emitError() << "groups need a 'panel', each of which is of one group";
  bool hasGroups = kind == ContractionKind::i8_dot4 || kind == ContractionKind::bf16_terms ||
                   kind == ContractionKind::i8_terms || kind == ContractionKind::integer_groups;
  if (hasGroups != (inner >= 0) || hasGroups != (step > 0))
    return emitError() << "'inner' is " << inner << " and 'step' " << step << ", expected "
                       << (hasGroups ? "a loop and the steps of it" : "neither") << " for "
                       << stringifyContractionKind(kind);
  bool isDequantized = kind == ContractionKind::dequantized || kind == ContractionKind::integer_groups;
  if (isDequantized != (block > 0))
    return emitError() << "'block' is " << block << ", expected " << (isDequantized ? "1 or more" : "none") << " for "
                       << stringifyContractionKind(kind);
  if (kind == ContractionKind::integer_groups && ((step != 2 && step != 4 && step != 8) || block % step != 0))
    return emitError() << "'block' is " << block << " and 'step' " << step
                       << ", expected whole i32 of 2, 4 or 8 integers for " << stringifyContractionKind(kind);
  return success();
}

/// A kernel.winograd has tiles of its own; the schedule says how its products of bf16 are computed.
static LogicalResult verifyWinogradSchedule(WinogradOp op, ScheduleAttr schedule) {
  constexpr int64_t kTileColumns = 16; // format: of AMX tiles
  auto filter = cast<ShapedType>(op.getFilter().getType());
  ScheduleFields named;
  named.microKernel = schedule.getMicroKernel();
  bool isOfAmx = named.microKernel == MicroKernel::amx_bf16;
  if (!filter.getElementType().isBF16() || (!isOfAmx && named.microKernel != MicroKernel::bf16_dot) ||
      schedule != ScheduleAttr::get(op.getContext(), named))
    return op.emitOpError() << "has a '" << kScheduleAttr
                            << "', which names bf16_dot or amx_bf16 for a filter of bf16, and nothing else";
  if (isOfAmx && filter.getDimSize(3) != 2 * kTileColumns)
    return op.emitOpError() << "has panels of " << filter.getDimSize(3) / 2 << " filters, but AMX tiles have "
                            << kTileColumns;
  return success();
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kScheduleAttr)
    return op->emitOpError() << "has the attribute '" << attribute.getName().getValue()
                             << "', which the kernel dialect does not define";
  auto schedule = dyn_cast<ScheduleAttr>(attribute.getValue());
  if (!schedule)
    return op->emitOpError() << "has a '" << kScheduleAttr << "' that is no #kernel.schedule";
  if (auto winograd = dyn_cast<WinogradOp>(op))
    return verifyWinogradSchedule(winograd, schedule);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return op->emitOpError() << "has a '" << kScheduleAttr
                             << "', which only a linalg.generic or a kernel.winograd may have";
  size_t loops = schedule.getTile().size();
  if (loops != 0 && loops != generic.getNumLoops())
    return op->emitOpError() << "has " << generic.getNumLoops() << " loops, but the tile of its schedule " << loops;
  return success();
}

ScheduleAttr tenon::kernel::getSchedule(ContractOp op) {
  return op.getSchedule().value_or(ScheduleAttr::get(op.getContext(), ScheduleFields()));
}
