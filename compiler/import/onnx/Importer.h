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
  /// Function bodies with their attributes, and tensors that the options name.
  std::deque<onnx::FunctionProto> functions;
  std::deque<onnx::TensorProto> tensors;
};

/// What a name of the model stands for. The operation that makes a constant or a tensor of sizes is made
/// where it is first used as a tensor, so what is needed at compile time alone leaves nothing behind.
struct ImportedValue {
  mlir::Value value;                 ///< Null before it was asked for.
  mlir::RankedTensorType type;       ///< Null where making it failed, which has been reported.
  mlir::ElementsAttr constant;       ///< The elements, where they are constant.
  std::optional<ShapeValue> known;   ///< What is known of them, where they are few.
  bool knownIsUpToDate = false;      ///< Whether `known` has been derived from `constant`.
  mlir::StringAttr weightName;       ///< The initializer's name.
  std::optional<mlir::Location> loc; ///< Of the node that makes it.

  bool isAbsent = false; ///< An optional input of a function that the call leaves out.

  // Instead of all above, where the value is no tensor (Compound.h).
  std::shared_ptr<Sequence> sequence;
  std::shared_ptr<Optional> optional;
  std::shared_ptr<Strings> strings;

  bool isTensor() const { return !sequence && !optional && !strings; }
  bool hasFailed() const { return !type && !isAbsent && isTensor(); }
};

using OpsetImports = llvm::StringMap<int64_t>;

/// Names as one graph sees them: its own, then those of the graphs around it. A function sees its own alone.
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
  Importer(std::shared_ptr<ModelMemory> memory, ExternalFiles &files, const ImportOptions &options, Report &report,
           mlir::MLIRContext *context);

  /// The module; null, with faults in the report, where the import failed.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  //===--- For Node and for operators that hold graphs
  //----------------------------------------------------===//

  /// The operation's result that stands for a value.
  mlir::Value materialize(ImportedValue &value);
  const ShapeValue *getKnown(ImportedValue &value);
  void addFault(ImportFault kind, const Node &node, const llvm::Twine &text);
  /// A run whose sizes make `expr` negative is refused; the text says why.
  void addRequirement(mlir::AffineExpr expr, const Node &node, const llvm::Twine &otherwise);
  TensorReader &getTensorReader() { return tensors; }
  /// A new symbol, named after what its value is read from.
  std::string makeDataSymbol(llvm::StringRef hint);
  /// Whether an expression names a symbol that data binds.
  bool dependsOnData(mlir::AffineExpr expr) const;
  /// Notes that these are a value's elements, so that they are not bound again.
  void rememberSizes(ImportedValue &value, llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// The first of `count` streams of random numbers that nobody else has.
  int64_t takeRandomStreams(int64_t count) { return std::exchange(randomStreams, randomStreams + count); }
  /// Counts what a node is written out to; a fault where the sum of all exceeds the limit.
  mlir::LogicalResult countExpansion(Node &node, int64_t nodeCount);

  /// Before a value that a scope holds gets an operation or sizes: in a region, it has them there alone.
  void noteChange(ImportedValue &value);
  mlir::OpBuilder &getBuilder() { return builder; }
  /// Whether operations are made in a branch or a loop, which may not run.
  bool isInRegion() const { return regionDepth > 0; }

  //===--- What is known of sizes
  //------------------------------------------------------------------------===//

  Facts &getFacts() { return facts; }
  /// Whether an expression is not negative where each symbol of the inputs is at least 1. Not of those that an option
  /// gives a range, which may begin at 0.
  bool isNegativeForEmptyOnly(mlir::AffineExpr expr) const;
  /// Whether two expressions have one value for all of some large sizes: two ways to write one formula, which may
  /// differ where rounding or clamping sets in.
  bool areUsuallyEqual(mlir::AffineExpr a, mlir::AffineExpr b) const;
  /// The same, of a sign.
  bool isUsuallyNotNegative(mlir::AffineExpr expr) const;
  /// Two extents are equal, which is checked when the model runs, in any branch.
  void learnEqual(mlir::AffineExpr a, mlir::AffineExpr b);
  /// `result` is what these extents broadcast to: each is 1 or equal to it.
  void rememberBroadcast(mlir::AffineExpr result, std::initializer_list<mlir::AffineExpr> parts);
  bool isBroadcastOf(mlir::AffineExpr result, mlir::AffineExpr part) const;

  //===--- Attempts and regions
  //--------------------------------------------------------------------------===//

  using Faults = std::vector<Report::Fault>;
  /// What has been reported and taken for granted at some point.
  struct Checkpoint {
    size_t faults, requirements;
  };
  Checkpoint getCheckpoint() const { return {report.size(), requirements.size()}; }
  bool hasFaultsSince(const Checkpoint &point) const { return report.size() > point.faults; }
  /// Forgets what came after a point, and that the node has failed since. The faults that are forgotten.
  Faults rollBack(const Checkpoint &point, Node &node);
  void restore(Faults faults) { report.append(std::move(faults)); }

  /// While it lives, operations are made in the region of a branch or a loop. What values from around it get
  /// there (the operation of a constant, a size that was bound) is forgotten at the end.
  class RegionVisit {
  public:
    explicit RegionVisit(Importer &importer);
    ~RegionVisit();

  private:
    Importer &importer;
    size_t begin;
  };

  /// Imports a graph in place, seeing the names that the node sees. `inputs` are bound to the graph's inputs;
  /// `outputs` becomes what its outputs stand for. The values live as long as the importer.
  mlir::LogicalResult importSubgraph(Node &node, const onnx::GraphProto &graph, llvm::ArrayRef<ImportedValue> inputs,
                                     llvm::SmallVectorImpl<ImportedValue *> &outputs);
  /// Imports a node with other values for some of its inputs. Gives what its outputs stand for; nothing where it
  /// fails, which has been reported.
  std::optional<llvm::SmallVector<ImportedValue>>
  importInstead(Node &node, llvm::ArrayRef<std::pair<llvm::StringRef, ImportedValue>> inputs);
  /// Sets the outputs of `node` to these values.
  mlir::LogicalResult bindOutputs(Node &node, llvm::ArrayRef<ImportedValue *> values);

  /// Imports the function body of the operator's schema in place of a node.
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

  // Functions.cpp: operators that are written as functions.
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
  /// Scopes of subgraphs and functions: what leaves one points into it.
  std::deque<Scope> scopes;
  std::deque<OpsetImports> functionOpsets;
  /// Functions whose bodies are being imported, each inside of the one before.
  llvm::SmallVector<const onnx::FunctionProto *> activeFunctions;
  llvm::MapVector<mlir::AffineExpr, std::string> requirements;
  llvm::DenseSet<mlir::AffineExpr> dataSymbols;
  Facts facts;
  llvm::DenseMap<mlir::AffineExpr, llvm::DenseSet<mlir::AffineExpr>> broadcasts;
  /// Values as they were before a region gave them an operation or sizes.
  std::vector<std::pair<ImportedValue *, ImportedValue>> changes;
  int regionDepth = 0;
  int64_t expandedNodes = 0, copiedBytes = 0, randomStreams = 0;
  /// The location that operations of expanded functions get, and what messages say of them: those of the
  /// node in the model's own graph.
  std::optional<mlir::Location> outerLoc;
  std::string outerName;
  std::vector<std::string> currentDiagnostics;
};

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_IMPORTER_H
