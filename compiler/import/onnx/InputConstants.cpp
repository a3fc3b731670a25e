//===- InputConstants.cpp - inputs that the options give a value ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

/// Reads a serialized TensorProto.
static bool readTensorFile(const std::string &path, onnx::TensorProto &tensor, std::string &error) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    error = "cannot be read: " + std::string(std::strerror(errno));
    return false;
  }
  std::shared_ptr<const MappedFile> file = MappedFile::map(descriptor, error);
  if (!file)
    return false;
  llvm::ArrayRef<char> bytes = file->getBytes();
  if (bytes.size() < INT32_MAX && tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return true;
  error = "is no serialized tensor";
  return false;
}

/// Numbers separated by commas, as a tensor of the input's type: a scalar where that is one.
static ElementsAttr parseNumbers(const onnx::ValueInfoProto &input, StringRef text, MLIRContext *context,
                                 std::string &error) {
  const auto &declared = input.type().tensor_type();
  Type type = getElementType(context, declared.elem_type());
  if (!type) {
    error = "is of type " + getDataTypeName(declared.elem_type()) + ", which is not supported";
    return {};
  }
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  SmallVector<double> numbers;
  SmallVector<int64_t> integers;
  for (StringRef part : parts) {
    if (isa<FloatType>(type) ? part.trim().getAsDouble(numbers.emplace_back())
                             : part.trim().getAsInteger(10, integers.emplace_back())) {
      error = "cannot be '" + part.str() + "', which is no number of its type";
      return {};
    }
  }
  int64_t count = static_cast<int64_t>(parts.size());
  bool isScalar = declared.has_shape() && declared.shape().dim_size() == 0;
  if (isScalar ? count != 1 : declared.has_shape() && declared.shape().dim_size() != 1) {
    error = "has " + std::to_string(declared.shape().dim_size()) + " dimensions, which " + std::to_string(count) +
            " numbers do not fill; name a file with @FILE";
    return {};
  }
  auto tensor = isScalar ? RankedTensorType::get({}, type) : RankedTensorType::get(count, type);
  return isa<FloatType>(type) ? makeElements(tensor, ArrayRef<double>(numbers))
                              : makeElements(tensor, ArrayRef<int64_t>(integers));
}

void Importer::importInputConstants() {
  for (const ImportOptions::Constant &constant : options.constants) {
    const onnx::ValueInfoProto *input = findInput(model.graph(), constant.input);
    std::string error;
    ElementsAttr elements;
    if (!input) {
      error = "is not there";
    } else if (StringRef(constant.value).starts_with("@")) {
      onnx::TensorProto &tensor = memory->tensors.emplace_back();
      if (readTensorFile(constant.value.substr(1), tensor, error)) {
        TensorReader::Result result = tensors.read(tensor, constant.input);
        elements = result.elements;
        error = result.error;
      }
    } else {
      elements = parseNumbers(*input, constant.value, context, error);
    }
    int32_t declared = input ? input->type().tensor_type().elem_type() : 0;
    if (elements && getDataType(elements.getElementType()) != declared) {
      error = "is of type " + getDataTypeName(declared) + ", but its value is of type " +
              getDataTypeName(getDataType(elements.getElementType()));
      elements = {};
    }
    if (!elements) {
      report.add(ImportFault::invalidModel, "input '" + constant.input + "', which --constant names, " + error);
      continue;
    }
    ImportedValue &value = mainScope.values[constant.input];
    value.constant = elements;
    value.type = cast<RankedTensorType>(elements.getType());
    value.weightName = builder.getStringAttr(constant.input);
  }
}
