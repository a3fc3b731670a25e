//===- InputConstants.cpp - inputs that the options give a value ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/import/ExternalFiles.h"
#include "compiler/import/onnx/Importer.h"
#include <cstring>
#include <fcntl.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

static const onnx::ValueInfoProto *findInput(const onnx::GraphProto &graph, StringRef name) {
  for (const onnx::ValueInfoProto &input : graph.input())
    if (input.name() == name)
      return &input;
  return nullptr;
}

static llvm::Error invalid(const Twine &text) { return makeError(CompileStatus::invalid, text); }

/// Reads a serialized TensorProto.
static llvm::Error readTensorFile(const std::string &path, onnx::TensorProto &tensor) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return invalid(Twine("cannot be read: ") + std::strerror(errno));
  llvm::Expected<std::shared_ptr<const MappedFile>> file = MappedFile::map(descriptor);
  if (!file)
    return file.takeError();
  llvm::ArrayRef<char> bytes = (*file)->getBytes();
  if (bytes.size() < INT32_MAX && tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return llvm::Error::success();
  return invalid("is no serialized tensor");
}

/// Parses comma-separated numbers as a tensor of the input's type; a single number may be a scalar.
static llvm::Expected<ElementsAttr> parseNumbers(const onnx::ValueInfoProto &input, StringRef text,
                                                 MLIRContext *context) {
  const auto &declared = input.type().tensor_type();
  Type type = getElementType(context, declared.elem_type());
  if (!type)
    return invalid("is of type " + getDataTypeName(declared.elem_type()) + ", which is not supported");
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  SmallVector<double> numbers;
  SmallVector<int64_t> integers;
  for (StringRef part : parts) {
    if (isa<FloatType>(type) ? part.trim().getAsDouble(numbers.emplace_back())
                             : part.trim().getAsInteger(10, integers.emplace_back()))
      return invalid("cannot be '" + part + "', which is no number of its type");
  }
  int64_t count = static_cast<int64_t>(parts.size());
  bool isScalar = declared.has_shape() && declared.shape().dim_size() == 0;
  if (isScalar ? count != 1 : declared.has_shape() && declared.shape().dim_size() != 1)
    return invalid("has " + Twine(declared.shape().dim_size()) + " dimensions, which " + Twine(count) +
                   " numbers do not fill; name a file with @FILE");
  auto tensor = isScalar ? RankedTensorType::get({}, type) : RankedTensorType::get(count, type);
  return isa<FloatType>(type) ? makeElements(tensor, ArrayRef<double>(numbers))
                              : makeElements(tensor, ArrayRef<int64_t>(integers));
}

llvm::Expected<ElementsAttr> Importer::readInputConstant(const ImportOptions::Constant &constant) {
  const onnx::ValueInfoProto *input = findInput(model.graph(), constant.input);
  if (!input)
    return invalid("is not there");
  StringRef path = constant.value;
  if (!path.consume_front("@"))
    return parseNumbers(*input, constant.value, context);
  onnx::TensorProto &tensor = memory->tensors.emplace_back();
  if (llvm::Error error = readTensorFile(path.str(), tensor))
    return error;
  return tensors.read(tensor, constant.input);
}

void Importer::importInputConstants() {
  for (const ImportOptions::Constant &constant : options.constants) {
    llvm::Expected<ElementsAttr> elements = readInputConstant(constant);
    if (elements) {
      int32_t declared = findInput(model.graph(), constant.input)->type().tensor_type().elem_type();
      int32_t given = getDataType(elements->getElementType());
      if (given != declared)
        elements =
            invalid("is of type " + getDataTypeName(declared) + ", but its value is of type " + getDataTypeName(given));
    }
    if (!elements) {
      // Whatever the error is, the model can be compiled with another value.
      report.add(ImportFault::invalidModel,
                 "input '" + constant.input + "', which --constant names, " + llvm::toString(elements.takeError()));
      continue;
    }
    ImportedValue &value = mainScope.values[constant.input];
    value.constant = *elements;
    value.type = cast<RankedTensorType>(elements->getType());
    value.weightName = builder.getStringAttr(constant.input);
  }
}
