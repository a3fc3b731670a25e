//===- NpyFile.cpp - the frame of NumPy's files ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/NpyFile.h"

#include "runtime/format/Layout.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::run {

namespace {
/// Parses the Python literal of a header.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}
  bool parse(NpyHeader &header);

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
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, rest[digits] - '0', &value))
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

bool HeaderParser::parse(NpyHeader &header) {
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

Status readNpyHeader(const uint8_t *bytes, size_t size, NpyHeader &header) {
  static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (size < 10 || memcmp(bytes, magic, sizeof magic) != 0)
    return Status::make(TENON_INVALID, "not a NumPy array (.npy)");
  unsigned version = bytes[6];
  if (version < 1 || version > 3)
    return Status::make(TENON_UNSUPPORTED, "version %u of the .npy format, versions 1 to 3 are read", version);
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

uint64_t fortranIndex(uint64_t index, const std::vector<int64_t> &dims) {
  // The last dimension varies fastest in `index`, and has the largest stride in the file.
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

Status writeNpyFile(const char *path, std::string_view descr, const tenon_tensor &tensor,
                    const std::function<bool(FILE *)> &elements) {
  std::string header = "{'descr': '";
  header += descr;
  header += "', 'fortran_order': False, 'shape': (";
  for (uint32_t d = 0; d < tensor.rank; ++d)
    header += std::to_string(tensor.dims[d]) + (tensor.rank == 1 ? "," : d + 1 < tensor.rank ? ", " : "");
  header += "), }";
  // The elements start at a multiple of 64.
  while ((10 + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  const uint8_t start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, uint8_t(header.size()), uint8_t(header.size() >> 8)};

  FILE *file = fopen(path, "wb");
  if (!file)
    return Status::make(TENON_INVALID, "%s: cannot be written: %s", path, strerror(errno));
  bool fine = fwrite(start, 1, sizeof start, file) == sizeof start &&
              fwrite(header.data(), 1, header.size(), file) == header.size() && elements(file);
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
