//===- ImportOnnx.cpp - files, options, and the border that nothing is thrown across ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ImportOnnx.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/ExternalFiles.h"
#include "compiler/import/FileFormat.h"
#include "compiler/import/onnx/Importer.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Disables protobuf's own parse errors on standard error; we report them ourselves.
static void silenceProtobuf() {
  static const bool once = (google::protobuf::SetLogHandler(nullptr), true);
  (void)once;
}

static std::unique_ptr<onnx::ModelProto> parseModel(llvm::ArrayRef<char> bytes, Report &report) {
  if (bytes.empty()) {
    report.add(ImportFault::invalidModel, "is empty, expected an ONNX model");
    return nullptr;
  }
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    report.add(ImportFault::invalidModel, "has " + Twine(bytes.size()) +
                                              " bytes, but an ONNX file has at most 2^31; save its tensors as "
                                              "external data");
    return nullptr;
  }
  if (std::optional<ForeignFormat> format = recognizeForeignFormat(bytes)) {
    report.add(ImportFault::invalidModel, "is " + format->name + "; " + format->advice);
    return nullptr;
  }
  silenceProtobuf();
  auto model = std::make_unique<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  // A graph in a node's attribute is nested in three messages. Deeper nesting than the import allows is still parsed,
  // so that the error names the limit.
  constexpr int kMessagesOfGraph = 3;
  stream.SetRecursionLimit(static_cast<int>(2 * kMessagesOfGraph * ImportLimits::kMaxNesting));
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    // The stream does not distinguish a truncated file from messages that are nested too deeply.
    report.add(ImportFault::invalidModel, "not an ONNX model, or truncated, or nested far beyond the import limit "
                                          "'nesting': parsing stopped at byte " +
                                              Twine(stream.CurrentPosition()) + " of " + Twine(bytes.size()));
    return nullptr;
  }
  return model;
}

static std::unique_ptr<onnx::ModelProto> readModel(const std::string &path, const ImportOptions &options,
                                                   Report &report) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    report.add(ImportFault::invalidModel, "cannot be read: " + Twine(std::strerror(errno)));
    return nullptr;
  }
  llvm::Expected<std::shared_ptr<const MappedFile>> file = MappedFile::map(descriptor);
  if (!file) {
    report.add(prefixError(file.takeError(), "cannot be read: "));
    return nullptr;
  }
  if (options.onInputFile)
    options.onInputFile(path, (*file)->getBytesOnDisk());
  return parseModel((*file)->getBytes(), report);
}

//===----------------------------------------------------------------------===//
// The border
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> importModel(std::unique_ptr<onnx::ModelProto> model, StringRef path,
                                         const ImportOptions &options, Report &report, MLIRContext *context) {
  if (!model->has_graph()) {
    report.add(ImportFault::invalidModel, "has no graph, so it is not an ONNX model");
    return {};
  }
  SmallString<128> folder(path);
  llvm::sys::path::remove_filename(folder);
  if (folder.empty() && !path.empty())
    folder = ".";
  ExternalFiles files(folder.str().str(), options.onInputFile);
  files.setNames();
  auto memory = std::make_shared<ModelMemory>();
  memory->model = std::move(model);
  return Importer(memory, files, options, report, context).run();
}

/// Runs `import` with a report, and converts exceptions of ONNX's library or protobuf to faults.
template <typename Import> static ImportedModel guard(StringRef name, MLIRContext *context, Import import) {
  Report report(name.str());
  ImportedModel result;
  try {
    result.module = import(report);
  } catch (const std::bad_alloc &) {
    report.add(ImportFault::invalidModel, "needs more memory than there is");
  } catch (const std::exception &e) {
    report.add(ImportFault::invalidModel, Twine("ONNX's library refuses the model: ") + e.what());
  }
  if (!result.module && !report.hasFaults())
    report.add(ImportFault::invalidModel, "cannot be imported");
  result.fault = report.getKind();
  report.emitAll(context);
  return result;
}

ImportedModel tenon::importOnnxFile(StringRef path, const ImportOptions &options, MLIRContext *context) {
  return guard(path, context, [&](Report &report) -> OwningOpRef<ModuleOp> {
    std::unique_ptr<onnx::ModelProto> model = ::readModel(path.str(), options, report);
    return model ? importModel(std::move(model), path, options, report, context) : OwningOpRef<ModuleOp>();
  });
}

ImportedModel tenon::importOnnxModel(std::unique_ptr<onnx::ModelProto> model, StringRef name, StringRef path,
                                     const ImportOptions &options, MLIRContext *context) {
  return guard(name, context,
               [&](Report &report) { return importModel(std::move(model), path, options, report, context); });
}
