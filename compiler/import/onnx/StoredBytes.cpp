//===- StoredBytes.cpp - where a model file has the elements of its tensors ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/StoredBytes.h"
#include "compiler/import/ImportModel.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <limits>
#include <onnx/onnx_pb.h>

using namespace tenon;
using google::protobuf::internal::WireFormatLite;
using llvm::ArrayRef;

/// Calls `use` with the number and the bytes of each length-delimited field: messages, strings, packed numbers.
static void forEachField(ArrayRef<char> message, llvm::function_ref<void(int, ArrayRef<char>)> use) {
  if (message.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(message.data()),
                                                static_cast<int>(message.size()));
  while (uint32_t tag = stream.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&stream, tag))
        return;
      continue;
    }
    uint32_t size;
    if (!stream.ReadVarint32(&size) || size > message.size() - stream.CurrentPosition())
      return;
    use(WireFormatLite::GetTagFieldNumber(tag), message.slice(stream.CurrentPosition(), size));
    stream.Skip(static_cast<int>(size));
  }
}

namespace {

class Walk {
public:
  explicit Walk(ArrayRef<char> model) : model(model) {}

  std::vector<StoredBytes> run() {
    forEachField(model, [&](int number, ArrayRef<char> field) {
      if (number == onnx::ModelProto::kGraphFieldNumber)
        visitGraph(field, 0);
      else if (number == onnx::ModelProto::kFunctionsFieldNumber)
        visitFunction(field);
    });
    return std::move(found);
  }

private:
  void visitFunction(ArrayRef<char> function) {
    forEachField(function, [&](int number, ArrayRef<char> field) {
      if (number == onnx::FunctionProto::kNodeFieldNumber)
        visitNode(field, 0);
    });
  }

  void visitGraph(ArrayRef<char> graph, int64_t depth) {
    if (depth > ImportLimits::kMaxNesting)
      return;
    forEachField(graph, [&](int number, ArrayRef<char> field) {
      if (number == onnx::GraphProto::kInitializerFieldNumber)
        visitTensor(field);
      else if (number == onnx::GraphProto::kNodeFieldNumber)
        visitNode(field, depth);
    });
  }

  void visitNode(ArrayRef<char> node, int64_t depth) {
    forEachField(node, [&](int number, ArrayRef<char> field) {
      if (number == onnx::NodeProto::kAttributeFieldNumber)
        visitAttribute(field, depth);
    });
  }

  void visitAttribute(ArrayRef<char> attribute, int64_t depth) {
    forEachField(attribute, [&](int number, ArrayRef<char> field) {
      if (number == onnx::AttributeProto::kTFieldNumber || number == onnx::AttributeProto::kTensorsFieldNumber)
        visitTensor(field);
      else if (number == onnx::AttributeProto::kGFieldNumber || number == onnx::AttributeProto::kGraphsFieldNumber)
        visitGraph(field, depth + 1);
    });
  }

  void visitTensor(ArrayRef<char> tensor) {
    StoredBytes external{"", 0, 0};
    forEachField(tensor, [&](int number, ArrayRef<char> field) {
      // Packed floating-point fields have the same layout as in memory.
      if (number == onnx::TensorProto::kRawDataFieldNumber || number == onnx::TensorProto::kFloatDataFieldNumber ||
          number == onnx::TensorProto::kDoubleDataFieldNumber)
        found.push_back({"", static_cast<uint64_t>(field.data() - model.data()), field.size()});
      else if (number == onnx::TensorProto::kExternalDataFieldNumber)
        readExternal(field, external);
    });
    if (!external.file.empty() && external.size)
      found.push_back(std::move(external));
  }

  static void readExternal(ArrayRef<char> field, StoredBytes &external) {
    onnx::StringStringEntryProto entry;
    if (!entry.ParseFromArray(field.data(), static_cast<int>(field.size())))
      return;
    if (entry.key() == "location")
      external.file = entry.value();
    else if (entry.key() == "offset")
      (void)llvm::StringRef(entry.value()).getAsInteger(10, external.offset);
    else if (entry.key() == "length")
      (void)llvm::StringRef(entry.value()).getAsInteger(10, external.size);
  }

  ArrayRef<char> model;
  std::vector<StoredBytes> found;
};

} // namespace

std::vector<StoredBytes> tenon::listStoredBytes(ArrayRef<char> model) { return Walk(model).run(); }
