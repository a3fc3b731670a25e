//===- Npy.cpp - NumPy's file format -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Npy.h"

#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/NpyFile.h"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace tenon::run {

/// Returns how elements of a type are stored: NumPy's kind letter, and the bytes of an element in the file.
static std::string_view kindOf(tenon_dtype dtype) {
  switch (dtype) {
  case TENON_F32:
    return "f4";
  case TENON_F64:
    return "f8";
  case TENON_F16:
    return "f2";
  case TENON_BF16:
    return "V2";
  case TENON_I8:
  case TENON_I4:
  case TENON_I2:
    return "i1";
  case TENON_I16:
    return "i2";
  case TENON_I32:
    return "i4";
  case TENON_I64:
    return "i8";
  case TENON_U8:
  case TENON_U4:
  case TENON_U2:
  case TENON_F4E2M1:
    return "u1";
  case TENON_U16:
    return "u2";
  case TENON_U32:
    return "u4";
  case TENON_U64:
    return "u8";
  case TENON_BOOL:
    return "b1";
  case TENON_C64:
    return "c8";
  case TENON_C128:
    return "c16";
  default:
    return "V1";
  }
}

static bool isSubByte(tenon_dtype dtype) { return tenon_dtype_bits(dtype) < 8; }
static bool isSignedSubByte(tenon_dtype dtype) { return dtype == TENON_I4 || dtype == TENON_I2; }

/// True if a file of NumPy type `kind` may contain elements of `wanted`.
static bool mayHold(std::string_view kind, tenon_dtype wanted) {
  if (kind == kindOf(wanted))
    return true;
  if (wanted == TENON_BF16)
    return kind == "u2";
  if (kindOf(wanted) == "V1")
    return kind == "u1";
  return isSubByte(wanted) && kind == "V1";
}

/// Checks the byte of an element in a file, and converts it to the memory format: zeros above the significant bits.
static bool readSubByte(tenon_dtype dtype, std::string_view kind, uint8_t byte, uint8_t *element) {
  unsigned bits = tenon_dtype_bits(dtype);
  int value = isSignedSubByte(dtype) ? int8_t(byte) : byte;
  int least = isSignedSubByte(dtype) ? -(1 << (bits - 1)) : 0, most = least + (1 << bits) - 1;
  // ml_dtypes says nothing about the upper bits.
  if (kind != "V1" && (value < least || value > most))
    return false;
  *element = uint8_t(byte & ((1u << bits) - 1));
  return true;
}

Status parseNpy(const uint8_t *bytes, size_t size, tenon_dtype wanted, HostTensor *tensor) {
  NpyHeader header;
  TENON_TRY(readNpyHeader(bytes, size, header));
  std::string_view descr = header.descr;
  char order = descr.empty() ? 0 : descr[0];
  if (order != '<' && order != '>' && order != '|' && order != '=')
    return Status::make(TENON_UNSUPPORTED, "NumPy type '%.*s'", int(descr.size()), descr.data());
  std::string_view kind = descr.substr(1);
  if (!mayHold(kind, wanted))
    return Status::make(TENON_INVALID, "holds NumPy type '%.*s', expected %s ('%.*s')", int(descr.size()), descr.data(),
                        tenon_dtype_name(wanted), int(kindOf(wanted).size()), kindOf(wanted).data());

  HostTensor result;
  result.dtype = wanted;
  result.dims = header.shape;
  uint64_t elementBytes = isSubByte(wanted) ? 1 : tenon_dtype_bits(wanted) / 8;
  uint64_t fileBytes = tenon_tensor_bytes(wanted, uint32_t(header.shape.size()), header.shape.data());
  uint64_t have = size - size_t(header.data - bytes);
  if (fileBytes != have)
    return Status::make(TENON_INVALID, "has %llu bytes of elements, its shape %s needs %s%llu",
                        (unsigned long long)have,
                        typeText(wanted, header.shape.data(), uint32_t(header.shape.size())).c_str(),
                        fileBytes == UINT64_MAX ? "more than " : "", (unsigned long long)fileBytes);
  TENON_TRY(result.allocate());

  bool swap = order == '>' && elementBytes > 1;
  uint64_t part = elementBytes / partsOf(wanted);
  if (!swap && !header.fortran && !isSubByte(wanted)) {
    if (have)
      memcpy(result.data(), header.data, have);
  } else {
    uint64_t count = fileBytes / elementBytes;
    for (uint64_t i = 0; i < count; ++i) {
      const uint8_t *from = header.data + elementBytes * (header.fortran ? fortranIndex(i, header.shape) : i);
      if (isSubByte(wanted)) {
        if (!readSubByte(wanted, kind, *from, result.data() + i))
          return Status::make(TENON_INVALID, "element %llu is out of the range of %s", (unsigned long long)i,
                              tenon_dtype_name(wanted));
        continue;
      }
      uint8_t *to = result.data() + i * elementBytes;
      for (uint64_t b = 0; b < elementBytes; ++b)
        to[b] = from[swap ? b / part * part + part - 1 - b % part : b];
    }
  }
  *tensor = std::move(result);
  return {};
}

/// Writes the elements in the file's format: in memory, small signed integers are not sign-extended.
static bool writeElements(FILE *file, const tenon_tensor &tensor, uint64_t bytes) {
  if (!isSignedSubByte(tensor.dtype))
    return bytes == 0 || fwrite(tensor.data, 1, bytes, file) == bytes;
  unsigned bits = tenon_dtype_bits(tensor.dtype);
  for (uint64_t i = 0; i < bytes; ++i) {
    unsigned code = static_cast<const uint8_t *>(tensor.data)[i];
    if (code >> (bits - 1))
      code |= ~0u << bits;
    if (putc(int(code & 0xff), file) == EOF)
      return false;
  }
  return true;
}

Status writeNpy(const char *path, const tenon_tensor &tensor) {
  std::string_view kind = kindOf(tensor.dtype);
  std::string descr = (kind.substr(1) == "1" ? "|" : "<") + std::string(kind);
  uint64_t bytes = tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims);
  return writeNpyFile(path, descr, tensor, [&](FILE *file) { return writeElements(file, tensor, bytes); });
}

} // namespace tenon::run
