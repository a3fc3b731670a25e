//===- Importer.cpp - the main graph: inputs, initializers, outputs -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Importer.h"
#include "compiler/graph/GraphBuilder.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Text.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <onnx/defs/schema.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

ImportedValue *Scope::find(StringRef name) {
  for (Scope *scope = this; scope; scope = scope->parent) {
    auto it = scope->values.find(name);
    if (it != scope->values.end())
      return &it->second;
  }
  return nullptr;
}

Importer::Importer(const std::shared_ptr<ModelMemory> &memory, ExternalFiles &files, const ImportOptions &options,
                   Report &report, MLIRContext *context)
    : memory(memory), model(*memory->model), options(options), report(report), context(context), builder(context),
      tensors(context, memory, files), inputShapes(options, report, context), facts(context) {
  context->getOrLoadDialect<TenonDialect>();
  context->getOrLoadDialect<func::FuncDialect>();
  for (const ImportOptions::Range &range : options.ranges)
    facts.addRange(getDimSymbol(context, range.symbol), {std::max<int64_t>(range.min, 0), range.max});
}

OwningOpRef<ModuleOp> Importer::run() {
  if (!readOpsets(model.opset_import(), opsets))
    return {};
  mainScope.opsets = &opsets;
  Location loc = NameLoc::get(builder.getStringAttr(model.graph().name()));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  {
    // Diagnostics of inference and verification of single operations become part of the node's fault.
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        currentDiagnostics.push_back(diagnostic.str());
      return success();
    });
    readModel(function);
  }
  if (report.hasFaults())
    return {};
  setModuleAttributes(*module);
  return module;
}

void Importer::readModel(func::FuncOp function) {
  readFunctions();
  importInitializers(model.graph(), mainScope);
  importInputConstants();
  importInputs(function);
  inputShapes.checkOptions();
  importNodes(model.graph().node(), mainScope);
  importOutputs(function);
}

//===----------------------------------------------------------------------===//
// Opsets and functions
//===----------------------------------------------------------------------===//

bool Importer::readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports,
                          OpsetImports &opsets) {
  const auto &known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  bool isGood = true;
  for (const auto &import : imports) {
    StringRef domain = canonicalDomain(import.domain());
    auto it = known.find(domain.str());
    bool isTooNew = it != known.end() && import.version() > it->second.second;
    isGood &= import.version() >= 1 && !isTooNew;
    if (import.version() < 1)
      report.add(ImportFault::invalidModel,
                 "imports version " + Twine(import.version()) + " of domain '" + domain + "'; versions count from 1");
    else if (isTooNew)
      report.add(ImportFault::unsupported, "uses opset " + Twine(import.version()) + " of domain '" +
                                               (domain.empty() ? "ai.onnx" : domain) + "', but " +
                                               Twine(it->second.second) +
                                               " is the newest that is known here; export it for that one");
    else
      opsets[domain] = import.version();
  }
  return isGood;
}

void Importer::readFunctions() {
  for (const onnx::FunctionProto &function : model.functions()) {
    std::string key = (canonicalDomain(function.domain()) + "::" + function.name() + ":" + function.overload()).str();
    if (!functions.try_emplace(key, &function).second)
      report.add(ImportFault::invalidModel, "defines the function '" + function.name() + "' twice");
  }
}

//===----------------------------------------------------------------------===//
// Initializers
//===----------------------------------------------------------------------===//

void Importer::importInitializers(const onnx::GraphProto &graph, Scope &scope) {
  for (const auto &sparse : graph.sparse_initializer())
    report.add(ImportFault::unsupported, "initializer '" + sparse.values().name() +
                                             "' is sparse, which is not supported; export it as a dense one");
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    Location loc = NameLoc::get(builder.getStringAttr(tensor.name()));
    auto [it, isNew] = scope.values.try_emplace(tensor.name());
    if (!isNew) {
      report.add(ImportFault::invalidModel, loc, "initializer '" + tensor.name() + "'", "is there twice");
      continue;
    }
    if (tensor.data_type() == onnx::TensorProto::STRING) {
      it->second = importStrings(tensor, loc);
      continue;
    }
    if (tensor.dims_size() > ImportLimits::kMaxRank ||
        static_cast<int64_t>(tensor.name().size()) > ImportLimits::kMaxNameLength) {
      bool isRank = tensor.dims_size() > ImportLimits::kMaxRank;
      report.add(ImportFault::limit, loc, "initializer '" + tensor.name() + "'",
                 isRank ? "has " + Twine(tensor.dims_size()) + " dimensions, more than the import limit 'rank' of " +
                              Twine(ImportLimits::kMaxRank)
                        : "has a name of " + Twine(tensor.name().size()) +
                              " bytes, more than the import limit 'name length' of " +
                              Twine(ImportLimits::kMaxNameLength));
      continue;
    }
    llvm::Expected<ElementsAttr> elements = tensors.read(tensor, tensor.name());
    if (!elements) {
      report.add(loc, "initializer '" + tensor.name() + "'", elements.takeError());
      continue;
    }
    it->second.constant = *elements;
    it->second.type = cast<RankedTensorType>(elements->getType());
    it->second.weightName = builder.getStringAttr(tensor.name());
    it->second.loc = loc;
  }
}

ImportedValue Importer::importStrings(const onnx::TensorProto &tensor, Location loc) {
  llvm::Expected<StringTensor> strings = readStrings(tensor);
  ImportedValue value;
  value.loc = loc;
  if (strings) {
    GraphBuilder b(builder, loc);
    value.strings = std::make_shared<Strings>(makeStrings(b, strings->texts, strings->shape));
  } else {
    report.add(loc, "initializer '" + tensor.name() + "'", strings.takeError());
  }
  return value;
}

void Importer::setModuleAttributes(ModuleOp module) {
  module->setAttr(kModelAttr, builder.getStringAttr(model.graph().name()));
  inputShapes.setRanges(module);
  if (requirements.empty())
    return;
  Dims dims;
  SmallVector<Attribute> texts;
  for (const auto &[dim, text] : requirements) {
    dims.push_back(dim);
    texts.push_back(StringAttr::get(context, text));
  }
  module->setAttr(kRequiresAttr, ShapeAttr::get(context, dims));
  module->setAttr(kRequiresTextAttr, ArrayAttr::get(context, texts));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Importer::RegionVisit::RegionVisit(Importer &importer) : importer(importer), begin(importer.changes.size()) {
  ++importer.regionDepth;
}

Importer::RegionVisit::~RegionVisit() {
  for (size_t i = importer.changes.size(); i-- > begin;)
    *importer.changes[i].first = std::move(importer.changes[i].second);
  importer.changes.resize(begin);
  --importer.regionDepth;
}

void Importer::noteChange(ImportedValue &value) {
  if (regionDepth > 0)
    changes.emplace_back(&value, value);
}

Importer::Faults Importer::rollBack(const Checkpoint &point, Node &node) {
  while (requirements.size() > point.requirements)
    requirements.pop_back();
  node.forgetFaults();
  return report.takeFrom(point.faults);
}

Value Importer::materialize(ImportedValue &value) {
  if (value.value || !value.type)
    return value.value;
  GraphBuilder b(builder, value.loc.value_or(builder.getUnknownLoc()));
  if (value.constant) {
    value.value = b.weight(value.constant, value.weightName ? value.weightName.getValue() : StringRef());
  } else if (std::optional<Dims> integers = value.known->getIntegers()) {
    Value flat =
        value.known->shape.empty() ? b.size((*integers)[0], value.known->type) : b.sizes(*integers, value.known->type);
    value.value = b.reshape(flat, IntsRef(value.known->shape));
  } else if (auto numbers = value.known->getNumbers()) {
    value.value = b.constantFloats(*numbers, value.known->shape, value.known->type);
  }
  return value.value;
}

const ShapeValue *Importer::getKnown(ImportedValue &value) {
  if (!value.known && value.constant && !value.knownIsUpToDate) {
    value.known = getShapeValue(value.constant);
    value.knownIsUpToDate = true;
  }
  return value.known ? &*value.known : nullptr;
}

std::string Importer::makeDataSymbol(StringRef hint) {
  std::string name;
  for (int i = 0; name.empty() || !inputShapes.addSymbol(name); ++i)
    name = (hint + "." + Twine(i)).str();
  dataSymbols.insert(getDimSymbol(context, name));
  return name;
}

bool Importer::dependsOnData(AffineExpr expr) const {
  bool result = false;
  if (!dataSymbols.empty())
    expr.walk([&](AffineExpr e) { result |= dataSymbols.contains(e); });
  return result;
}

bool Importer::isNegativeForEmptyOnly(AffineExpr expr) const {
  Facts notEmpty = facts;
  facts.substitute(expr).walk([&](AffineExpr part) {
    auto isOf = [&](const ImportOptions::Range &range) { return getDimSymbol(context, range.symbol) == part; };
    if (isa<AffineSymbolExpr>(part) && !dataSymbols.contains(part) && llvm::none_of(options.ranges, isOf))
      notEmpty.addRange(part, {1, std::numeric_limits<int64_t>::max()});
  });
  return notEmpty.isNotNegative(expr);
}

/// Returns the value of an expression; none if it overflows or divides by 0.
static std::optional<int64_t> evaluate(AffineExpr expr, llvm::function_ref<int64_t(unsigned)> getSize) {
  if (std::optional<int64_t> constant = getConstant(expr))
    return constant;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getSize(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluate(binary.getLHS(), getSize), b = evaluate(binary.getRHS(), getSize);
  int64_t result;
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  default:
    if (*b <= 0)
      return std::nullopt;
    if (expr.getKind() == AffineExprKind::CeilDiv)
      return llvm::divideCeilSigned(*a, *b);
    result = llvm::divideFloorSigned(*a, *b);
    return expr.getKind() == AffineExprKind::FloorDiv ? result : *a - result * *b;
  }
}

/// True if a predicate holds for the value of an expression for each of some large sizes.
static bool holdsUsually(AffineExpr expr, llvm::function_ref<bool(int64_t)> holds) {
  constexpr int64_t kSamples = 16, kMin = 4096;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    auto getSize = [&](unsigned symbol) { return kMin + (symbol * 2654435761 + sample * 40503) % 1000003; };
    std::optional<int64_t> value = evaluate(expr, getSize);
    if (!value || !holds(*value))
      return false;
  }
  return true;
}

bool Importer::areUsuallyEqual(AffineExpr a, AffineExpr b) const {
  return !isUnknownDim(a) && !isUnknownDim(b) &&
         holdsUsually(facts.substitute(subDims(a, b)), [](int64_t difference) { return difference == 0; });
}

bool Importer::isUsuallyNotNegative(AffineExpr expr) const {
  return !isUnknownDim(expr) && holdsUsually(facts.substitute(expr), [](int64_t value) { return value >= 0; });
}

void Importer::learnEqual(AffineExpr a, AffineExpr b) {
  a = facts.substitute(a);
  b = facts.substitute(b);
  if (!isa<AffineSymbolExpr>(a))
    std::swap(a, b);
  auto symbol = dyn_cast<AffineSymbolExpr>(a);
  if (symbol && !b.isFunctionOfSymbol(symbol.getPosition()))
    facts.replace(a, b);
}

void Importer::rememberBroadcast(AffineExpr result, std::initializer_list<AffineExpr> parts) {
  broadcasts[result].insert(parts.begin(), parts.end());
}

bool Importer::isBroadcastOf(AffineExpr result, AffineExpr part) const {
  auto it = broadcasts.find(result);
  return it != broadcasts.end() && it->second.contains(part);
}

void Importer::rememberSizes(ImportedValue &value, ArrayRef<AffineExpr> sizes) {
  ShapeValue known{Ints(value.type.getShape()), value.type.getElementType(), {}};
  for (AffineExpr size : sizes)
    known.elements.push_back({size, 1, std::nullopt});
  noteChange(value);
  value.known = std::move(known);
}

void Importer::addFault(ImportFault kind, const Node &node, const Twine &text) {
  std::string where = outerName.empty() ? "" : " in the body of " + outerName;
  report.add(kind, node.getLoc(), node.describe() + where, text);
}

void Importer::addRequirement(AffineExpr expr, const Node &node, const Twine &otherwise) {
  if (requirements.try_emplace(expr, (node.describe() + ": " + otherwise).str()).second && !isInRegion())
    facts.addNotNegative(expr);
}
