//===- ValueFiles.cpp - values in files -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/ValueFiles.h"

#include "runtime/base/MappedFile.h"
#include "tools/tenon-run/Npy.h"
#include "tools/tenon-run/TensorProto.h"
#include "tools/tenon-run/ValueProto.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::run {

/// Whether a path names an ONNX file.
static bool isProtoPath(const std::string &path) {
  return path.size() >= 3 && path.compare(path.size() - 3, 3, ".pb") == 0;
}

/// Opens a file, reads it with `parse`, and prefixes errors with its name.
template <typename Parse> static Status readFile(const char *path, Parse parse) {
  rt::MappedFile file;
  Status status = file.open(path);
  if (!status.failed())
    status = parse(file.bytes(), file.size());
  return status.failed() ? Status::make(status.code(), "%s: %s", path, status.message()) : Status();
}

Status readProto(const char *path, const Model::Value &input, HostValue *value) {
  return readFile(path, [&](const uint8_t *bytes, size_t size) {
    if (input.isOptional())
      return parseOptionalProto(bytes, size, value);
    if (input.isSequence())
      return parseSequenceProto(bytes, size, value);
    HostTensor tensor;
    Status status = parseTensorProto(bytes, size, &tensor);
    if (!status.failed())
      *value = toValue(std::move(tensor));
    return status;
  });
}

Status readNpy(const char *path, tenon_dtype dtype, HostTensor *tensor) {
  return readFile(path, [&](const uint8_t *bytes, size_t size) {
    return dtype == TENON_STRING ? parseNpyStrings(bytes, size, tensor) : parseNpy(bytes, size, dtype, tensor);
  });
}

static std::string numbered(const std::string &folder, size_t number) {
  return folder + "/" + std::to_string(number) + ".npy";
}

static Status readSequence(const std::string &folder, tenon_dtype dtype, HostValue *value) {
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return Status::make(TENON_INVALID, "%s: no folder, which a sequence is read from: 0.npy, 1.npy...", folder.c_str());
  value->isSequence = true;
  for (size_t i = 0; access(numbered(folder, i).c_str(), F_OK) == 0; ++i)
    TENON_TRY(readNpy(numbered(folder, i).c_str(), dtype, &value->tensors.emplace_back()));
  return {};
}

Status readValue(const std::string &path, const Model::Value &input, HostValue *value) {
  if (isProtoPath(path))
    return readProto(path.c_str(), input, value);
  if (input.isSequence())
    return readSequence(path, input.dtype(), value);
  HostTensor tensor;
  TENON_TRY(readNpy(path.c_str(), input.dtype(), &tensor));
  *value = toValue(std::move(tensor));
  return {};
}

static Status writeTensor(const std::string &path, const TensorView &view) {
  return view.tensor.dtype == TENON_STRING ? writeNpyStrings(path.c_str(), view) : writeNpy(path.c_str(), view.tensor);
}

Status writeValue(const std::string &path, const ValueView &value) {
  if (!value.isSequence)
    return value.has ? writeTensor(path, value.tensors[0]) : Status();
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    return Status::make(TENON_INVALID, "%s: cannot be made: %s", path.c_str(), strerror(errno));
  size_t i = 0;
  for (; i < value.tensors.size(); ++i)
    TENON_TRY(writeTensor(numbered(path, i), value.tensors[i]));
  // Files of an earlier, longer sequence would count as part of this one.
  while (unlink(numbered(path, i).c_str()) == 0)
    ++i;
  return {};
}

} // namespace tenon::run
