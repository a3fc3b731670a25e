//===- FileFormat.cpp - files that are taken for a model, and are none ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/FileFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace tenon;
using llvm::StringRef;

namespace {
/// A format with a magic number at a fixed offset. No ONNX model has one of these: as protobuf they would begin with an
/// invalid field number or wire type, or with fields that a model does not have.
struct Signature {
  size_t offset;
  StringRef bytes;
  ForeignFormat format;
};
} // namespace

static constexpr StringRef kPassFolder = "pass the folder of the Hugging Face model, which has config.json";
static constexpr StringRef kExport = "export the model to ONNX with torch.onnx.export";

static const Signature kSignatures[] = {
    {0,
     StringRef("TENON\r\n\x1a", 8),
     {"an artifact that is compiled already", "run it with tenon-run, or look at it with tenon inspect"}},
    {0, "GGUF", {"a GGUF file", "pass an ONNX file or a Hugging Face folder"}},
    {0, StringRef("PK\x03\x04", 4), {"a zip archive, as torch.save writes", kExport}},
    {0, StringRef("\x80\x02\x8a\nl\xfc\x9c\x46\xf9", 9), {"a pickle, as torch.save writes", kExport}},
    {4, "TFL3", {"a TensorFlow Lite model", "convert it to ONNX with tf2onnx"}},
    {0, StringRef("\x89HDF\r\n\x1a\n", 8), {"an HDF5 file, as Keras writes", "export the model to ONNX"}},
    {0, StringRef("\x93NUMPY", 6), {"a NumPy array", "pass the model that it is a value for"}},
    {0, "<?xml", {"an XML file, as OpenVINO writes", "pass the ONNX file that it was converted from"}},
    {0, "version https://git-lfs.", {"a pointer of Git LFS", "fetch the file with git lfs pull"}},
};

/// True if a safetensors file begins with these bytes: the length of its header, then the header, which is a JSON
/// object.
static bool isSafetensors(StringRef bytes) {
  constexpr size_t kPrefix = sizeof(uint64_t);
  return bytes.size() > kPrefix && bytes[kPrefix] == '{' &&
         llvm::support::endian::read64le(bytes.data()) <= bytes.size() - kPrefix;
}

std::optional<ForeignFormat> tenon::recognizeForeignFormat(llvm::ArrayRef<char> data) {
  StringRef bytes(data.data(), data.size());
  for (const Signature &signature : kSignatures)
    if (bytes.drop_front(std::min(signature.offset, bytes.size())).starts_with(signature.bytes))
      return signature.format;
  if (isSafetensors(bytes))
    return ForeignFormat{"a safetensors file, which holds only weights", kPassFolder};
  constexpr size_t kMaxBlanks = 64;
  StringRef text = bytes.take_front(kMaxBlanks).ltrim(" \t\r\n");
  if (text.starts_with("{"))
    return ForeignFormat{"a JSON file", kPassFolder};
  static constexpr StringRef kFirstWords[] = {"module", "builtin.module", "func.func", "//"};
  if (llvm::any_of(kFirstWords, [&](StringRef word) { return text.starts_with(word); }))
    return ForeignFormat{"MLIR text", "give the file a name that ends in .mlir"};
  return std::nullopt;
}
