//===- DiscardableAttributes.cpp - checks of the attributes that passes leave -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes read these attributes by name and take a missing or malformed one for "not known", so that a misspelt name or
// a wrong type would give slower or wrong code without a message. The verifier refuses them instead.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Ranges.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;

namespace {

/// The operations that may have an attribute. Other dialects are recognized by name, because this one does not link
/// them.
struct Place {
  StringLiteral text;
  bool (*contains)(Operation *op);
};

/// Values that an attribute may have.
struct Values {
  StringLiteral text;
  bool (*contains)(Attribute value);
};

struct Rule {
  StringLiteral name;
  Place place;
  Values values;
};

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static bool isFunction(Operation *op) { return isa<FunctionOpInterface>(op); }
static bool isModule(Operation *op) { return isa<ModuleOp>(op); }
static bool isNamed(Operation *op, StringRef name) { return op->getName().getStringRef() == name; }
static bool isOfDialect(Operation *op, StringRef dialect) { return op->getName().getDialectNamespace() == dialect; }

static constexpr Place kFunction{"a function", isFunction};
static constexpr Place kModule{"a module", isModule};
static constexpr Place kModuleOrFunction{"a module or a function",
                                         [](Operation *op) { return isModule(op) || isFunction(op); }};
static constexpr Place kFunctionOrLaunch{"a function or a plan.launch",
                                         [](Operation *op) { return isFunction(op) || isNamed(op, "plan.launch"); }};
static constexpr Place kFunctionOrLoop{"a function or an scf.for",
                                       [](Operation *op) { return isFunction(op) || isNamed(op, "scf.for"); }};
static constexpr Place kComputation{"a function, or an operation of the dialects tenon and linalg", [](Operation *op) {
                                      return isFunction(op) || isOfDialect(op, "tenon") || isOfDialect(op, "linalg");
                                    }};
static constexpr Place kSinking{"a tenon.transpose or a tenon.reshape",
                                [](Operation *op) { return isa<TransposeOp, ReshapeOp>(op); }};
static constexpr Place kExponential{"a math.exp", [](Operation *op) { return isNamed(op, "math.exp"); }};
static constexpr Place kAllocation{"a memref.alloca", [](Operation *op) { return isNamed(op, "memref.alloca"); }};
static constexpr Place kReshape{"a reshape", [](Operation *op) {
                                  return isa<ReshapeOp>(op) || isNamed(op, "tensor.expand_shape") ||
                                         isNamed(op, "tensor.collapse_shape");
                                }};
static constexpr Place kFusible{"an operation of the dialect tenon that a kernel computes", [](Operation *op) {
                                  return isOfDialect(op, "tenon") && op->getNumResults() > 0 && !isa<DispatchOp>(op);
                                }};
static constexpr Place kPower{"a math.powf", [](Operation *op) { return isNamed(op, "math.powf"); }};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isNotNegative(Attribute value) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getType().isSignlessInteger(64) && !integer.getValue().isNegative();
}

/// True if `value` is a dictionary each of whose entries satisfies `isEntry`.
static bool isDictionaryOf(Attribute value, bool (*isEntry)(Attribute)) {
  auto dictionary = dyn_cast<DictionaryAttr>(value);
  return dictionary && llvm::all_of(dictionary, [&](NamedAttribute entry) { return isEntry(entry.getValue()); });
}

static bool isRange(Attribute value) {
  auto ends = dyn_cast<DenseI64ArrayAttr>(value);
  return ends && ends.size() == 2 && ends[0] <= ends[1];
}

static bool areDistinctNames(Attribute value) {
  auto names = dyn_cast<ArrayAttr>(value);
  llvm::SmallDenseSet<Attribute> seen;
  return names && llvm::all_of(names, [&](Attribute name) {
           auto text = dyn_cast<StringAttr>(name);
           return text && !text.empty() && seen.insert(name).second;
         });
}

static bool areSizes(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && llvm::expectedToOptional(parseRanges(text));
}

static constexpr Values kUnit{"a unit attribute", [](Attribute value) { return isa<UnitAttr>(value); }};
static constexpr Values kCount{"a 64-bit integer that is not negative", isNotNegative};
static constexpr Values kSeveral{"a 64-bit integer from 2 on", [](Attribute value) {
                                   return isNotNegative(value) && cast<IntegerAttr>(value).getInt() >= 2;
                                 }};
static constexpr Values kIntegers{"an array<i64> of integers above 0", [](Attribute value) {
                                    auto integers = dyn_cast<DenseI64ArrayAttr>(value);
                                    return integers &&
                                           llvm::all_of(integers.asArrayRef(), [](int64_t i) { return i > 0; });
                                  }};
static constexpr Values kText{"a string", [](Attribute value) { return isa<StringAttr>(value); }};
static constexpr Values kNonEmptyText{"a string that is not empty", [](Attribute value) {
                                        auto text = dyn_cast<StringAttr>(value);
                                        return text && !text.empty();
                                      }};
static constexpr Values kTexts{"an array of strings", [](Attribute value) {
                                 auto texts = dyn_cast<ArrayAttr>(value);
                                 return texts && llvm::all_of(texts, llvm::IsaPred<StringAttr>);
                               }};
static constexpr Values kNames{"an array of distinct names", areDistinctNames};
static constexpr Values kShape{"a #tenon.shape", [](Attribute value) { return isa<ShapeAttr>(value); }};
static constexpr Values kExpression{"a #tenon.shape of one expression", [](Attribute value) {
                                      auto shape = dyn_cast<ShapeAttr>(value);
                                      return shape && shape.getDims().size() == 1;
                                    }};
static constexpr Values kAmount{"a #tenon.shape of one expression, or an affine map of sizes", [](Attribute value) {
                                  auto shape = dyn_cast<ShapeAttr>(value);
                                  auto map = dyn_cast<AffineMapAttr>(value);
                                  return (shape && shape.getDims().size() == 1) ||
                                         (map && map.getValue().getNumResults() == 1 &&
                                          map.getValue().getNumDims() == 0);
                                }};
static constexpr Values kMachine{"a #tenon.machine", [](Attribute value) { return isa<MachineAttr>(value); }};
static constexpr Values kCounts{"a dictionary of 64-bit integers that are not negative",
                                [](Attribute value) { return isDictionaryOf(value, isNotNegative); }};
static constexpr Values kSizes{"a dictionary of 64-bit integers above 0", [](Attribute value) {
                                 return isDictionaryOf(value, [](Attribute size) {
                                   return isNotNegative(size) && !cast<IntegerAttr>(size).getValue().isZero();
                                 });
                               }};
static constexpr Values kRanges{"a dictionary of array<i64: smallest, largest>",
                                [](Attribute value) { return isDictionaryOf(value, isRange); }};
static constexpr Values kProgramSizes{"sizes as --specialize accepts them, such as \"N=1..512;M=4\"", areSizes};
static constexpr Values kRole{"a #tenon.role", [](Attribute value) { return isa<RoleAttr>(value); }};

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

static constexpr Rule kOperationRules[] = {
    {kKernelAttr, kFunction, kUnit},
    {kSymbolsAttr, kFunction, kNames},
    {kTilesAttr, kFunctionOrLoop, kExpression},
    {kScratchAttr, kFunction, kCount},
    {kRequiresAttr, kModuleOrFunction, kShape},
    {kRequiresTextAttr, kModuleOrFunction, kTexts},
    {kRangesAttr, kModuleOrFunction, kRanges},
    {kSizeHintsAttr, kFunction, kSizes},
    {kProgramAttr, kFunction, kProgramSizes},
    {kSharesWeightsAttr, kFunction, kUnit},
    {kSequencesAttr, kFunction, kSeveral},
    {kFlopsAttr, kFunctionOrLaunch, kAmount},
    {kBytesAttr, kFunctionOrLaunch, kAmount},
    {kMachineAttr, kModuleOrFunction, kMachine},
    {kModelAttr, kModule, kText},
    {kPathAttr, kComputation, kNonEmptyText},
    {kPathsAttr, kComputation, kCounts},
    {kPathTimesAttr, kComputation, kCounts},
    {kRegionAttr, kComputation, kNonEmptyText},
    {kServedRegionAttr, kComputation, kNonEmptyText},
    {kKernelRegionAttr, kFunction, kNonEmptyText},
    {kNormalAttr, kExponential, kUnit},
    {kSinksAttr, kSinking, kUnit},
    {kDefinedAttr, kPower, kUnit},
    {kMaterializedAttr, kFusible, kUnit},
    {kRecomputedAttr, kFusible, kUnit},
    // Attributes by which passes/kernel schedules a chain or a transpose.
    {kChainTileAttr, kReshape, kIntegers},
    {"tenon.transpose_scratch", kAllocation, kUnit},
};

static constexpr Place kAnywhere{"an argument or a result", [](Operation *) { return true; }};

static constexpr Rule kArgumentRules[] = {
    {kNameAttr, kAnywhere, kText},   {kRoleAttr, kAnywhere, kRole},    {kDimsAttr, kAnywhere, kShape},
    {kOutputAttr, kAnywhere, kUnit}, {kReusedAttr, kAnywhere, kCount},
};

static constexpr Rule kResultRules[] = {
    {kNameAttr, kAnywhere, kText},
    {kRoleAttr, kAnywhere, kRole},
};

/// Verifies `attribute` by the rule for its name; `what` describes where it is attached, for messages.
static LogicalResult verifyRule(Operation *op, NamedAttribute attribute, ArrayRef<Rule> rules, StringRef what) {
  const Rule *rule = llvm::find_if(rules, [&](const Rule &rule) { return rule.name == attribute.getName(); });
  if (rule == rules.end())
    return op->emitOpError("has an unknown attribute '") << attribute.getName().getValue() << "' on " << what;
  if (!rule->place.contains(op))
    return op->emitOpError("has the attribute '") << rule->name << "', which belongs on " << rule->place.text;
  if (!rule->values.contains(attribute.getValue()))
    return op->emitOpError("has ") << attribute.getValue() << " for '" << rule->name << "' on " << what << ", expected "
                                   << rule->values.text;
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes that have to agree
//===----------------------------------------------------------------------===//

static LogicalResult verifyTexts(Operation *op) {
  auto requirements = op->getAttrOfType<ShapeAttr>(kRequiresAttr);
  auto texts = op->getAttrOfType<ArrayAttr>(kRequiresTextAttr);
  size_t count = requirements ? requirements.getDims().size() : 0;
  if (texts.size() == count)
    return success();
  return op->emitOpError("has ") << texts.size() << " texts in '" << kRequiresTextAttr << "' for " << count
                                 << " requirements";
}

/// Verifies that the chosen path is one of those whose cycles were estimated.
static LogicalResult verifyPath(Operation *op) {
  auto path = op->getAttrOfType<StringAttr>(kPathAttr);
  auto paths = op->getAttrOfType<DictionaryAttr>(kPathsAttr);
  if (!paths || paths.contains(path))
    return success();
  return op->emitOpError("takes the path ") << path << ", which is not among '" << kPathsAttr << "'";
}

/// Verifies that the result of an operation is not to be materialized and recomputed.
static LogicalResult verifyFusion(Operation *op) {
  if (!op->hasAttr(kMaterializedAttr))
    return success();
  return op->emitOpError("has both '") << kMaterializedAttr << "' and '" << kRecomputedAttr << "'";
}

LogicalResult TenonDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyRule(op, attribute, kOperationRules, "an operation")))
    return failure();
  if (attribute.getName() == kRequiresTextAttr)
    return verifyTexts(op);
  if (attribute.getName() == kPathAttr)
    return verifyPath(op);
  if (attribute.getName() == kRecomputedAttr)
    return verifyFusion(op);
  return success();
}

LogicalResult TenonDialect::verifyRegionArgAttribute(Operation *op, unsigned region, unsigned index,
                                                     NamedAttribute attribute) {
  std::string what = "argument " + std::to_string(index);
  if (failed(verifyRule(op, attribute, kArgumentRules, what)))
    return failure();
  // Only the interface of functions verifies attributes of arguments.
  auto function = cast<FunctionOpInterface>(op);
  // Bufferization removes the results; the number is then that of the destination.
  if (attribute.getName() == kReusedAttr && function.getNumResults() != 0 &&
      cast<IntegerAttr>(attribute.getValue()).getInt() >= function.getNumResults())
    return op->emitOpError("has ") << function.getNumResults() << " results, but '" << kReusedAttr << "' on " << what
                                   << " names result " << cast<IntegerAttr>(attribute.getValue()).getInt();
  if (auto tensor = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
      tensor && attribute.getName() == kDimsAttr &&
      tensor.getRank() != static_cast<int64_t>(cast<ShapeAttr>(attribute.getValue()).getDims().size()))
    return op->emitOpError("has ") << attribute.getValue() << " for '" << kDimsAttr << "' on " << what
                                   << ", which has rank " << tensor.getRank();
  return success();
}

LogicalResult TenonDialect::verifyRegionResultAttribute(Operation *op, unsigned region, unsigned index,
                                                        NamedAttribute attribute) {
  return verifyRule(op, attribute, kResultRules, "result " + std::to_string(index));
}
