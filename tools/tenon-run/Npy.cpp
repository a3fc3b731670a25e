//===- Npy.cpp - NumPy's file format -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Npy.h"

#include "runtime/core/MappedFile.h"
#include "runtime/format/Layout.h"
#include "tools/tenon-run/Element.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::run {

namespace {
/// The dictionary at the start of a file.
struct Header {
  std::string_view descr;
  bool fortran = false;
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr;
};

/// Reads the one Python literal that a header may be.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}
  bool parse(Header &header);

private:
  void skipSpace() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\t'))
      rest.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skipSpace();
    if (rest.substr(0, token.size()) != token)
      return false;
    rest.remove_prefix(token.size());
    return true;
  }
  bool quoted(std::string_view &text);
  bool integer(int64_t &value);
  bool shape(std::vector<int64_t> &dims);

  std::string_view rest;
};
} // namespace

bool HeaderParser::quoted(std::string_view &text) {
  skipSpace();
  if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
    return false;
  size_t end = rest.find(rest[0], 1);
  if (end == rest.npos)
    return false;
  text = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return true;
}

bool HeaderParser::integer(int64_t &value) {
  skipSpace();
  value = 0;
  size_t digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, rest[digits] - '0', &value))
      return false;
  rest.remove_prefix(digits);
  // Python 2 wrote long integers with an L.
  if (digits && !rest.empty() && rest[0] == 'L')
    rest.remove_prefix(1);
  return digits != 0;
}

bool HeaderParser::shape(std::vector<int64_t> &dims) {
  if (!take("("))
    return false;
  while (!take(")")) {
    int64_t dim;
    if (dims.size() >= fmt::kMaxRank || !integer(dim))
      return false;
    dims.push_back(dim);
    if (!take(","))
      return take(")");
  }
  return true;
}

bool HeaderParser::parse(Header &header) {
  if (!take("{"))
    return false;
  unsigned seen = 0;
  while (!take("}")) {
    std::string_view key;
    if (!quoted(key) || !take(":"))
      return false;
    if (key == "descr") {
      // A list here would describe records.
      if (!quoted(header.descr))
        return false;
      seen |= 1;
    } else if (key == "fortran_order") {
      header.fortran = take("True");
      if (!header.fortran && !take("False"))
        return false;
      seen |= 2;
    } else if (key == "shape") {
      header.shape.clear();
      if (!shape(header.shape))
        return false;
      seen |= 4;
    } else {
      return false;
    }
    if (!take(","))
      return take("}") && seen == 7;
  }
  return seen == 7;
}

static Status readHeader(const uint8_t *bytes, size_t size, Header &header) {
  static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (size < 10 || memcmp(bytes, magic, sizeof magic) != 0)
    return Status::make(TENON_INVALID, "not a NumPy array (.npy)");
  unsigned version = bytes[6];
  if (version < 1 || version > 3)
    return Status::make(TENON_UNSUPPORTED, "version %u of the .npy format, versions 1 to 3 are read",
                        version);
  size_t start = version == 1 ? 10 : 12;
  if (size < start)
    return Status::make(TENON_INVALID, "truncated: its header does not end");
  size_t length = bytes[8] | size_t(bytes[9]) << 8;
  if (version > 1)
    length |= size_t(bytes[10]) << 16 | size_t(bytes[11]) << 24;
  if (length > size - start)
    return Status::make(TENON_INVALID, "truncated: its header does not end");
  HeaderParser parser({reinterpret_cast<const char *>(bytes) + start, length});
  if (!parser.parse(header))
    return Status::make(TENON_INVALID, "a .npy header that is not one plain array");
  header.data = bytes + start + length;
  return {};
}

/// How elements of a type are stored: NumPy's kind letter, and bytes of one element in the file.
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

/// Whether a file of NumPy type `kind` may hold elements of `wanted`.
static bool mayHold(std::string_view kind, tenon_dtype wanted) {
  if (kind == kindOf(wanted))
    return true;
  if (wanted == TENON_BF16)
    return kind == "u2";
  if (kindOf(wanted) == "V1")
    return kind == "u1";
  return isSubByte(wanted) && kind == "V1";
}

/// Checks the byte of one element in a file, and makes it what it is in memory: zeros above the bits that
/// count.
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

/// Where row-major element `index` stands in a Fortran-ordered array.
static uint64_t fortranIndex(uint64_t index, const std::vector<int64_t> &dims) {
  // The last dimension varies fastest in `index` and has the largest stride in the file.
  uint64_t stride = 1;
  for (int64_t dim : dims)
    stride *= uint64_t(dim);
  uint64_t place = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    stride /= uint64_t(dims[d]);
    place += index % uint64_t(dims[d]) * stride;
    index /= uint64_t(dims[d]);
  }
  return place;
}

Status parseNpy(const uint8_t *bytes, size_t size, tenon_dtype wanted, HostTensor *tensor) {
  Header header;
  TENON_TRY(readHeader(bytes, size, header));
  std::string_view descr = header.descr;
  char order = descr.empty() ? 0 : descr[0];
  if (order != '<' && order != '>' && order != '|' && order != '=')
    return Status::make(TENON_UNSUPPORTED, "NumPy type '%.*s'", int(descr.size()), descr.data());
  std::string_view kind = descr.substr(1);
  if (!mayHold(kind, wanted))
    return Status::make(TENON_INVALID, "holds NumPy type '%.*s', and must hold %s ('%.*s')",
                        int(descr.size()), descr.data(), tenon_dtype_name(wanted), int(kindOf(wanted).size()),
                        kindOf(wanted).data());

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

Status readNpy(const char *path, tenon_dtype wanted, HostTensor *tensor) {
  rt::MappedFile file;
  Status status = file.open(path);
  if (!status.failed())
    status = parseNpy(file.bytes(), file.size(), wanted, tensor);
  return status.failed() ? Status::make(status.code(), "%s: %s", path, status.message()) : Status();
}

/// The elements as the file has them: in memory, small signed integers have no sign above their bits.
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
  std::string header = "{'descr': '";
  header += kind.substr(1) == "1" ? '|' : '<';
  header += kind;
  header += "', 'fortran_order': False, 'shape': (";
  for (uint32_t d = 0; d < tensor.rank; ++d)
    header += std::to_string(tensor.dims[d]) + (tensor.rank == 1 ? "," : d + 1 < tensor.rank ? ", " : "");
  header += "), }";
  // The elements start at a multiple of 64.
  while ((10 + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  const uint8_t start[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, uint8_t(header.size()), uint8_t(header.size() >> 8)};

  FILE *file = fopen(path, "wb");
  if (!file)
    return Status::make(TENON_INVALID, "%s: cannot be written: %s", path, strerror(errno));
  uint64_t bytes = tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims);
  bool fine = fwrite(start, 1, sizeof start, file) == sizeof start &&
              fwrite(header.data(), 1, header.size(), file) == header.size() &&
              writeElements(file, tensor, bytes);
  struct stat info;
  bool regular = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode);
  fine &= fclose(file) == 0;
  if (fine)
    return {};
  Status status = Status::make(TENON_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
  if (regular)
    unlink(path);
  return status;
}

} // namespace tenon::run
