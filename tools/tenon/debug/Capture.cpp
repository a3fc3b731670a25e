//===- Capture.cpp - tensors of a run, as files ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Capture.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/errors/CompileError.h"
#include "tools/tenon-run/Parts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::debug;

static llvm::Error failRead(const std::string &path, const llvm::Twine &why) {
  return makeError(CompileStatus::resources, path + ": " + why);
}

llvm::Error debug::writeFile(const std::string &path, llvm::StringRef bytes) {
  if (llvm::Error error = writeOutputFile(path, [&](llvm::raw_ostream &os) { os << bytes; }))
    return makeError(CompileStatus::resources, "cannot write " + path + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> CapturedTensor::readElements() const {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failRead(file, buffer.getError().message());
  uint64_t wanted = tenon_tensor_bytes(dtype, dims.size(), dims.data());
  if ((*buffer)->getBufferSize() != wanted)
    return failRead(file, "has " + llvm::Twine((*buffer)->getBufferSize()) + " bytes, and should have " +
                              llvm::Twine(wanted));
  return std::move(*buffer);
}

std::string CapturedTensor::describeType() const { return run::typeText(dtype, dims.data(), dims.size()); }

llvm::Error CaptureWriter::add(llvm::StringRef name, tenon_role role, const tenon_tensor &tensor) {
  std::string file = std::to_string(tensors.size()) + ".bin";
  uint64_t bytes = tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims);
  tensors.push_back({name.str(), role, tensor.dtype, {tensor.dims, tensor.dims + tensor.rank}, file});
  return writeFile(folder + "/" + file, llvm::StringRef(static_cast<const char *>(tensor.data), bytes));
}

llvm::Error CaptureWriter::add(const run::Model::Value &value, run::HostValue content) {
  std::vector<run::HostTensor> parts;
  if (llvm::Error error = takeStatus(run::takeApart(value, std::move(content), &parts)))
    return error;
  for (auto [port, part] : llvm::zip(value.ports, parts))
    if (llvm::Error error = add(value.name, port.role, part.view()))
      return error;
  return llvm::Error::success();
}

llvm::Error CaptureWriter::finish() {
  nlohmann::json index = nlohmann::json::array();
  for (const CapturedTensor &tensor : tensors)
    index.push_back({{"name", tensor.name},
                     {"role", static_cast<int>(tensor.role)},
                     {"dtype", tenon_dtype_name(tensor.dtype)},
                     {"dims", tensor.dims},
                     {"file", tensor.file}});
  // Names come from a model, and may be no UTF-8.
  return writeFile(folder + "/index.json", index.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

llvm::Error debug::takeStatus(const run::Status &status) {
  return status.failed() ? makeError(static_cast<CompileStatus>(status.code()), status.message())
                         : llvm::Error::success();
}

static std::optional<tenon_dtype> findDType(llvm::StringRef name) {
  for (int dtype = TENON_F32; dtype <= TENON_C128; ++dtype)
    if (name == tenon_dtype_name(static_cast<tenon_dtype>(dtype)))
      return static_cast<tenon_dtype>(dtype);
  return std::nullopt;
}

llvm::Expected<std::vector<CapturedTensor>> debug::readCapture(const std::string &folder) {
  std::string path = folder + "/index.json";
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return failRead(path, text.getError().message());
  nlohmann::json index = nlohmann::json::parse((*text)->getBuffer().str(), nullptr, /*allow_exceptions=*/false);
  if (!index.is_array())
    return failRead(path, "is no list of tensors");
  std::vector<CapturedTensor> tensors;
  for (const nlohmann::json &entry : index) {
    std::optional<tenon_dtype> dtype = findDType(entry.at("dtype").get<std::string>());
    if (!dtype)
      return failRead(path, "has an element type that is not known: " + entry.at("dtype").get<std::string>());
    tensors.push_back({entry.at("name"), static_cast<tenon_role>(entry.at("role").get<int>()), *dtype,
                       entry.at("dims").get<std::vector<int64_t>>(),
                       folder + "/" + entry.at("file").get<std::string>()});
  }
  return tensors;
}

const CapturedTensor *debug::findTensor(llvm::ArrayRef<CapturedTensor> tensors, llvm::StringRef name, tenon_role role) {
  auto it = llvm::find_if(tensors, [&](const CapturedTensor &t) { return t.name == name && t.role == role; });
  return it == tensors.end() ? nullptr : &*it;
}
