//===- Importer.h - walks a model's graphs and imports node by node -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_IMPORTER_H
#define TENON_COMPILER_IMPORT_ONNX_IMPORTER_H

#include "compiler/import/InputShapes.h"
#include "compiler/import/Report.h"
#include "compiler/import/onnx/ImportOnnx.h"
#include "compiler/import/onnx/ShapeValue.h"
#include "compiler/import/onnx/Tensors.h"
#include "dialects/tenon/Facts.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <onnx/onnx_pb.h>

namespace onnx {
class OpSchema;
}

namespace mlir::func {
class FuncOp;
}

namespace tenon::onnx_import {

class Node;
struct OpEntry;
struct Sequence;
struct Optional;
struct Strings;

/// What the resources of a module point into.
struct ModelMemory {
  std::unique_ptr<const onnx::ModelProto> model;
  /// Owns function bodies with substituted attributes, and tensors that the options name.
  std::deque<onnx::FunctionProto> functions;
  std::deque<onnx::TensorProto> tensors;
};

/// The value of a name of the model. The operation of a constant or of a tensor of sizes is created at its first use as
/// a tensor, so values that are only needed at compile time leave no operation.
struct ImportedValue {
  mlir::Value value;                 ///< Null before it was asked for.
  mlir::RankedTensorType type;       ///< Null where making it failed, which has been reported.
  mlir::ElementsAttr constant;       ///< The elements, where they are constant.
  std::optional<ShapeValue> known;   ///< What is known of them, where they are few.
  bool knownIsUpToDate = false;      ///< Whether `known` has been derived from `constant`.
  mlir::StringAttr weightName;       ///< The initializer's name.
  std::optional<mlir::Location> loc; ///< Of the node that makes it.

  bool isAbsent = false; ///< An optional input of a function that the call leaves out.

  // Used instead of the above fields if the value is not a tensor (Compound.h).
  std::shared_ptr<Sequence> sequence;
  std::shared_ptr<Optional> optional;
  std::shared_ptr<Strings> strings;

  bool isTensor() const { return !sequence && !optional && !strings; }
  bool hasFailed() const { return !type && !isAbsent && isTensor(); }
};

using OpsetImports = llvm::StringMap<int64_t>;

/// The names that a graph sees: its own, then those of the graphs around it. A function only sees its own.
struct Scope {
  Scope *parent = nullptr;
  const OpsetImports *opsets = nullptr;
  llvm::StringMap<ImportedValue> values;
  /// How many functions and subgraphs deep we are.
  int depth = 0;

  ImportedValue *find(llvm::StringRef name);
};

class Importer {
public:
  Importer(const std::shared_ptr<ModelMemory> &memory, ExternalFiles &files, const ImportOptions &options,
           Report &report, mlir::MLIRContext *context);

  /// Returns the module; null, with faults in the report, if the import failed.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  //===--- For Node and for operators that hold graphs
  //----------------------------------------------------===//

  /// The operation's result that stands for a value.
  mlir::Value materialize(ImportedValue &value);
  const ShapeValue *getKnown(ImportedValue &value);
  void addFault(ImportFault kind, const Node &node, const llvm::Twine &text);
  /// A run whose sizes make `expr` negative fails with the text as the reason.
  void addRequirement(mlir::AffineExpr expr, const Node &node, const llvm::Twine &otherwise);
  TensorReader &getTensorReader() { return tensors; }
  /// Returns a new symbol, named after the value that it is read from.
  std::string makeDataSymbol(llvm::StringRef hint);
  /// True if an expression contains a data-dependent symbol.
  bool dependsOnData(mlir::AffineExpr expr) const;
  /// Records that these are a value's elements, so that they are not bound again.
  void rememberSizes(ImportedValue &value, llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// Returns the first of `count` unused streams of random numbers.
  int64_t takeRandomStreams(int64_t count) { return std::exchange(randomStreams, randomStreams + count); }
  /// Counts the nodes of a node's expansion; reports a fault if the total exceeds the limit.
  mlir::LogicalResult countExpansion(Node &node, int64_t nodeCount);

  /// Must be called before a value of a scope gets an operation or sizes, which in a region are only valid there.
  void noteChange(ImportedValue &value);
  mlir::OpBuilder &getBuilder() { return builder; }
  /// True if operations are created in a branch or a loop, which may not run.
  bool isInRegion() const { return regionDepth > 0; }

  //===--- What is known of sizes
  //------------------------------------------------------------------------===//

  Facts &getFacts() { return facts; }
  /// True if an expression is non-negative whenever each symbol of the inputs is at least 1. Symbols with a range from
  /// an option are excluded, since they may be 0.
  bool isNegativeForEmptyOnly(mlir::AffineExpr expr) const;
  /// True if two expressions have equal values for some large sizes: they are two formulas for the same size, which may
  /// differ because of rounding or clamping.
  bool areUsuallyEqual(mlir::AffineExpr a, mlir::AffineExpr b) const;
  /// The same, of a sign.
  bool isUsuallyNotNegative(mlir::AffineExpr expr) const;
  /// Records that two extents are equal, which is checked at run time, in any branch.
  void learnEqual(mlir::AffineExpr a, mlir::AffineExpr b);
  /// Records that `result` is the broadcast of these extents: each is 1 or equal to it.
  void rememberBroadcast(mlir::AffineExpr result, std::initializer_list<mlir::AffineExpr> parts);
  bool isBroadcastOf(mlir::AffineExpr result, mlir::AffineExpr part) const;

  //===--- Attempts and regions
  //--------------------------------------------------------------------------===//

  using Faults = std::vector<Report::Fault>;
  /// The state of reports and assumptions at some point.
  struct Checkpoint {
    size_t faults, requirements;
  };
  Checkpoint getCheckpoint() const { return {report.size(), requirements.size()}; }
  bool hasFaultsSince(const Checkpoint &point) const { return report.size() > point.faults; }
  /// Discards everything after a point, including the node's failure. Returns the discarded faults.
  Faults rollBack(const Checkpoint &point, Node &node);
  void restore(Faults faults) { report.append(std::move(faults)); }

  /// During its lifetime, operations are created in the region of a branch or a loop. Changes to outer values (the
  /// operation of a constant, a bound size) are undone at the end.
  class RegionVisit {
  public:
    explicit RegionVisit(Importer &importer);
    ~RegionVisit();

  private:
    Importer &importer;
    size_t begin;
  };

  /// Imports a graph in place, with the names that the node sees. `inputs` are bound to the graph's inputs; `outputs`
  /// receives the values of its outputs. The values live as long as the importer.
  mlir::LogicalResult importSubgraph(Node &node, const onnx::GraphProto &graph, llvm::ArrayRef<ImportedValue> inputs,
                                     llvm::SmallVectorImpl<ImportedValue *> &outputs);
  /// Imports a node with other values for some of its inputs. Returns the values of its outputs; none after a reported
  /// error.
  std::optional<llvm::SmallVector<ImportedValue>>
  importInstead(Node &node, llvm::ArrayRef<std::pair<llvm::StringRef, ImportedValue>> inputs);
  /// Sets the outputs of `node` to these values.
  mlir::LogicalResult bindOutputs(Node &node, llvm::ArrayRef<ImportedValue *> values);

  /// Imports the function body of the operator's schema instead of a handler.
  mlir::LogicalResult importSchemaBody(Node &node);

private:
  // Importer.cpp: the main graph.
  void readModel(mlir::func::FuncOp function);
  bool readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports, OpsetImports &opsets);
  void readFunctions();
  void importInputConstants();
  llvm::Expected<mlir::ElementsAttr> readInputConstant(const ImportOptions::Constant &constant);
  void importInitializers(const onnx::GraphProto &graph, Scope &scope);
  ImportedValue importStrings(const onnx::TensorProto &tensor, mlir::Location loc);
  void setModuleAttributes(mlir::ModuleOp module);

  // Boundary.cpp: inputs and outputs.
  struct Result;
  void declareShape(const onnx::ValueInfoProto &input);
  std::optional<Dims> getInputDims(const onnx::ValueInfoProto &input);
  mlir::Type getInputElementType(const onnx::ValueInfoProto &input, int32_t dataType);
  mlir::DictionaryAttr getBoundaryAttrs(llvm::StringRef name, std::optional<Role> role);
  mlir::Value addArgument(mlir::func::FuncOp function, llvm::StringRef name, std::optional<Role> role, mlir::Type type);
  mlir::AffineExpr addInputSymbol(const llvm::Twine &name);
  ImportedValue importSequenceInput(mlir::func::FuncOp function, const onnx::ValueInfoProto &input,
                                    const onnx::TypeProto &type);
  ImportedValue importTensorInput(mlir::func::FuncOp function, const onnx::ValueInfoProto &input);
  ImportedValue importInput(mlir::func::FuncOp function, const onnx::ValueInfoProto &input);
  void importInputs(mlir::func::FuncOp function);
  void addResults(llvm::StringRef name, ImportedValue &value, llvm::SmallVectorImpl<Result> &results);
  void addMarked(llvm::SmallVectorImpl<Result> &results);
  void importOutputs(mlir::func::FuncOp function);

  // ImportNodes.cpp: nodes in order.
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  void importNodes(const Nodes &nodes, Scope &scope);
  void importNode(const onnx::NodeProto &proto, size_t index, Scope &scope);
  bool importKnownOp(Node &node, llvm::StringRef domain);
  bool importByHandler(Node &node, const OpEntry &entry);
  bool runHandler(Node &node, const OpEntry &entry, llvm::ArrayRef<ShapeValue> known);
  bool setKnownOutputs(Node &node, llvm::SmallVectorImpl<ShapeValue> &known);
  void setOutputs(Node &node, llvm::ArrayRef<ShapeValue> known);
  void requireExtents(const Node &node, mlir::RankedTensorType type);
  void failOutputs(const onnx::NodeProto &proto, Scope &scope);
  mlir::Location getLocation(const onnx::NodeProto &proto, size_t index);

  // HostOps.cpp: operators of plug-ins.
  static bool isHostOp(llvm::StringRef domain, llvm::StringRef name);
  bool importHostOp(Node &node);

  // In Functions.cpp: operators that are defined as functions.
  const onnx::FunctionProto *findFunction(const onnx::NodeProto &proto);
  const onnx::FunctionProto *buildFunction(Node &node, const onnx::OpSchema &schema);
  static bool canBuildFunction(const onnx::OpSchema &schema);
  mlir::LogicalResult enterGraph(Node &node, Scope &inner, int64_t nodeCount);
  mlir::LogicalResult importFunction(Node &node, const onnx::FunctionProto &function);
  mlir::LogicalResult importFunctionBody(Node &node, const onnx::FunctionProto &function, Scope &inner);

  std::shared_ptr<ModelMemory> memory;
  const onnx::ModelProto &model;
  const ImportOptions &options;
  Report &report;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  TensorReader tensors;
  InputShapes inputShapes;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs; ///< of the function's arguments so far
  Scope mainScope;
  OpsetImports opsets;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// Scopes of subgraphs and functions; values that leave one point into it.
  std::deque<Scope> scopes;
  std::deque<OpsetImports> functionOpsets;
  /// The stack of functions whose bodies are being imported.
  llvm::SmallVector<const onnx::FunctionProto *> activeFunctions;
  llvm::MapVector<mlir::AffineExpr, std::string> requirements;
  llvm::DenseSet<mlir::AffineExpr> dataSymbols;
  Facts facts;
  llvm::DenseMap<mlir::AffineExpr, llvm::DenseSet<mlir::AffineExpr>> broadcasts;
  /// The states of values before a region gave them an operation or sizes.
  std::vector<std::pair<ImportedValue *, ImportedValue>> changes;
  int regionDepth = 0;
  int64_t expandedNodes = 0, copiedBytes = 0, randomStreams = 0;
  /// The location of operations of expanded functions, and of messages about them: that of the node in the model's own
  /// graph.
  std::optional<mlir::Location> outerLoc;
  std::string outerName;
  std::vector<std::string> currentDiagnostics;
};

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_IMPORTER_H
