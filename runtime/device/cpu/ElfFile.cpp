//===- ElfFile.cpp - reads a shared object that may be hostile -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/ElfFile.h"

#include "runtime/base/CheckedMath.h"
#include "runtime/format/Kernel.h"
#include "runtime/format/Layout.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace tenon::rt {

/// Not in the elf.h of older C libraries.
static constexpr int64_t kDtRelr = 36, kDtRelrSize = 35;

namespace {
/// The entries of PT_DYNAMIC that matter here.
struct Dynamic {
  uint64_t rela = 0, relaSize = 0, relr = 0, relrSize = 0;
  uint64_t symbols = 0, strings = 0, stringsSize = 0, hash = 0, gnuHash = 0;
};

class Parser {
public:
  Parser(ElfFile &elf, uint16_t machine, uint64_t pageSize) : elf(elf), machine(machine), pageSize(pageSize) {}
  Status run();

private:
  Status readHeader();
  Status readSegment(const Elf64_Phdr &program);
  Status readDynamic();
  Status readRela();
  Status readRelr();
  Status addRelocation(uint64_t address, uint64_t addend);
  Status readSymbols();
  Status countSymbols(uint64_t *count);
  Status countByGnuHash(uint64_t *count);

  /// Returns the file's bytes for [address, address + size) of the image, or null if they are not within the file part
  /// of one segment.
  const uint8_t *at(uint64_t address, uint64_t size) const;

  template <typename T> T read(const uint8_t *from) const {
    T value;
    memcpy(&value, from, sizeof value);
    return value;
  }

  ElfFile &elf;
  uint16_t machine;
  uint64_t pageSize;
  Elf64_Phdr dynamicHeader{};
  Dynamic dynamic;
};
} // namespace

#define FAIL(...) Status::make(TENON_INVALID, "code: " __VA_ARGS__)

const uint8_t *Parser::at(uint64_t address, uint64_t size) const {
  for (const ElfFile::Segment &segment : elf.segments)
    if (address >= segment.address && fits(address - segment.address, size, segment.fileSize))
      return elf.bytes + segment.offset + (address - segment.address);
  return nullptr;
}

Status Parser::readHeader() {
  if (elf.size < sizeof(Elf64_Ehdr))
    return FAIL("not an ELF file");
  auto header = read<Elf64_Ehdr>(elf.bytes);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return FAIL("not a 64-bit little-endian ELF file");
  if (header.e_type != ET_DYN)
    return FAIL("ELF type %u, expected a shared object", header.e_type);
  if (header.e_machine != machine)
    return FAIL("for ELF machine %u, its target says %u", header.e_machine, machine);
  constexpr unsigned kMaxSegments = 64;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxSegments ||
      !fits(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr), elf.size))
    return FAIL("program headers outside of the file");
  for (unsigned i = 0; i < header.e_phnum; ++i)
    TENON_TRY(readSegment(read<Elf64_Phdr>(elf.bytes + header.e_phoff + i * sizeof(Elf64_Phdr))));
  return {};
}

Status Parser::readSegment(const Elf64_Phdr &program) {
  switch (program.p_type) {
  case PT_INTERP:
    return FAIL("is a program, expected a shared object");
  case PT_TLS:
    return FAIL("uses thread-local storage, which kernels must not have");
  case PT_DYNAMIC:
    dynamicHeader = program;
    return {};
  case PT_LOAD:
    break;
  default:
    return {};
  }
  if (!fits(program.p_offset, program.p_filesz, elf.size) || program.p_filesz > program.p_memsz)
    return FAIL("segment outside of the file");
  if ((program.p_flags & PF_W) && (program.p_flags & PF_X))
    return FAIL("segment that is both writable and executable");
  // The image may exceed the file by a bounded amount: code has no large zero-initialized data, since kernels keep no
  // state, and its segments are adjacent except for alignment.
  constexpr uint64_t kSlack = 4u << 20;
  uint64_t end;
  if (!checkedAdd(program.p_vaddr, program.p_memsz, &end) || end > elf.size * 2 + kSlack ||
      program.p_memsz > program.p_filesz + kSlack)
    return FAIL("segment larger than the file allows");
  if (!elf.segments.empty()) {
    const ElfFile::Segment &last = elf.segments.back();
    uint64_t lastEnd = (last.address + last.memorySize + pageSize - 1) & ~(pageSize - 1);
    if ((program.p_vaddr & ~(pageSize - 1)) < lastEnd)
      return FAIL("segments that overlap, or share a page of %llu bytes", (unsigned long long)pageSize);
  }
  elf.segments.push_back({program.p_vaddr, program.p_memsz, program.p_offset, program.p_filesz,
                          bool(program.p_flags & PF_W), bool(program.p_flags & PF_X)});
  return {};
}

Status Parser::readDynamic() {
  if (!dynamicHeader.p_filesz)
    return FAIL("no dynamic section");
  const uint8_t *entries = at(dynamicHeader.p_vaddr, dynamicHeader.p_filesz);
  if (!entries)
    return FAIL("dynamic section outside of the file");
  for (uint64_t i = 0; i + sizeof(Elf64_Dyn) <= dynamicHeader.p_filesz; i += sizeof(Elf64_Dyn)) {
    auto entry = read<Elf64_Dyn>(entries + i);
    uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
    case DT_NULL:
      return {};
    case DT_NEEDED:
      return FAIL("needs a shared library, expected code that imports nothing");
    case DT_RELA:
      dynamic.rela = value;
      break;
    case DT_RELASZ:
      dynamic.relaSize = value;
      break;
    case kDtRelr:
      dynamic.relr = value;
      break;
    case kDtRelrSize:
      dynamic.relrSize = value;
      break;
    case DT_SYMTAB:
      dynamic.symbols = value;
      break;
    case DT_STRTAB:
      dynamic.strings = value;
      break;
    case DT_STRSZ:
      dynamic.stringsSize = value;
      break;
    case DT_HASH:
      dynamic.hash = value;
      break;
    case DT_GNU_HASH:
      dynamic.gnuHash = value;
      break;
    case DT_REL:
    case DT_TEXTREL:
      return FAIL("relocations of a kind that is not loaded (dynamic tag %lld)", (long long)entry.d_tag);
    case DT_PLTRELSZ:
    case DT_INIT_ARRAYSZ:
    case DT_FINI_ARRAYSZ:
      if (value)
        return FAIL("%s", entry.d_tag == DT_PLTRELSZ ? "calls through a procedure linkage table; kernels must "
                                                       "import nothing"
                                                     : "constructors or destructors, which kernels must not have");
      break;
    case DT_INIT:
    case DT_FINI:
      return FAIL("constructors or destructors, which kernels must not have");
    default:
      break;
    }
  }
  return {};
}

Status Parser::addRelocation(uint64_t address, uint64_t addend) {
  if (addend > elf.imageSize)
    return FAIL("relocation to 0x%llx, outside of the code", (unsigned long long)addend);
  // A compact table could name one word repeatedly.
  if (elf.relocations.size() >= elf.imageSize / sizeof(uint64_t))
    return FAIL("more relocations than words");
  for (const ElfFile::Segment &segment : elf.segments)
    if (segment.write && address >= segment.address &&
        fits(address - segment.address, sizeof(uint64_t), segment.memorySize)) {
      elf.relocations.push_back({address, addend});
      return {};
    }
  return FAIL("relocation at 0x%llx, which is not writable", (unsigned long long)address);
}

Status Parser::readRela() {
  const uint8_t *table = at(dynamic.rela, dynamic.relaSize);
  if (!table)
    return FAIL("relocations outside of the file");
  uint32_t relative = machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
  for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= dynamic.relaSize; i += sizeof(Elf64_Rela)) {
    auto rela = read<Elf64_Rela>(table + i);
    uint32_t type = ELF64_R_TYPE(rela.r_info);
    if (type == R_X86_64_NONE || type == R_AARCH64_NONE)
      continue;
    if (type == relative) {
      TENON_TRY(addRelocation(rela.r_offset, uint64_t(rela.r_addend)));
      continue;
    }
    // Most likely a call that the compiler left in; the message names its target.
    char name[64] = "?";
    if (const uint8_t *entry = at(dynamic.symbols + ELF64_R_SYM(rela.r_info) * sizeof(Elf64_Sym), sizeof(Elf64_Sym))) {
      uint64_t offset = read<Elf64_Sym>(entry).st_name;
      for (size_t c = 0; c + 1 < sizeof name; ++c) {
        const uint8_t *byte = at(dynamic.strings + offset + c, 1);
        name[c] = byte ? char(*byte) : 0;
        name[c + 1] = 0;
        if (!name[c])
          break;
      }
    }
    return FAIL("relocation of type %u to '%s'; kernels must import nothing and only export entry points", type, name);
  }
  return {};
}

/// Reads the compact table: an even entry is an address to relocate, an odd one a bitmap of the 63 words after it.
Status Parser::readRelr() {
  const uint8_t *table = at(dynamic.relr, dynamic.relrSize);
  if (!table)
    return FAIL("relocations outside of the file");
  uint64_t where = 0;
  auto add = [&](uint64_t address) -> Status {
    const uint8_t *word = at(address, sizeof(uint64_t));
    if (!word)
      return FAIL("relocation at 0x%llx, which is not in the file", (unsigned long long)address);
    return addRelocation(address, read<uint64_t>(word));
  };
  for (uint64_t i = 0; i + sizeof(uint64_t) <= dynamic.relrSize; i += sizeof(uint64_t)) {
    uint64_t entry = read<uint64_t>(table + i);
    if (!(entry & 1)) {
      TENON_TRY(add(entry));
      where = entry + sizeof(uint64_t);
      continue;
    }
    for (unsigned bit = 1; bit < 64; ++bit)
      if (entry >> bit & 1)
        TENON_TRY(add(where + (bit - 1) * sizeof(uint64_t)));
    where += 63 * sizeof(uint64_t);
  }
  return {};
}

/// A GNU hash table does not contain the number of symbols, which is the end of the chain that starts last.
Status Parser::countByGnuHash(uint64_t *count) {
  const uint8_t *header = at(dynamic.gnuHash, 16);
  if (!header)
    return FAIL("hash table outside of the file");
  uint64_t bucketCount = read<uint32_t>(header), first = read<uint32_t>(header + 4);
  uint64_t buckets = dynamic.gnuHash + 16 + uint64_t(read<uint32_t>(header + 8)) * 8;
  const uint8_t *bucket = at(buckets, bucketCount * 4);
  if (!bucket)
    return FAIL("hash table outside of the file");
  uint64_t last = 0;
  for (uint64_t i = 0; i < bucketCount; ++i)
    last = std::max<uint64_t>(last, read<uint32_t>(bucket + i * 4));
  *count = first;
  if (last < first)
    return {};
  uint64_t chains = buckets + bucketCount * 4;
  for (;; ++last) {
    const uint8_t *entry = at(chains + (last - first) * 4, 4);
    if (!entry)
      return FAIL("hash table outside of the file");
    if (read<uint32_t>(entry) & 1)
      break;
  }
  *count = last + 1;
  return {};
}

Status Parser::countSymbols(uint64_t *count) {
  *count = 0;
  if (!dynamic.hash)
    return dynamic.gnuHash ? countByGnuHash(count) : Status();
  const uint8_t *header = at(dynamic.hash, 8);
  if (!header)
    return FAIL("hash table outside of the file");
  *count = read<uint32_t>(header + 4);
  return {};
}

Status Parser::readSymbols() {
  uint64_t count;
  TENON_TRY(countSymbols(&count));
  if (!count)
    return {};
  const uint8_t *table = at(dynamic.symbols, count * sizeof(Elf64_Sym));
  const uint8_t *strings = at(dynamic.strings, dynamic.stringsSize);
  if (!table || !strings)
    return FAIL("symbols outside of the file");
  for (uint64_t i = 0; i < count; ++i) {
    auto symbol = read<Elf64_Sym>(table + i * sizeof(Elf64_Sym));
    unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT))
      continue;
    // The length of a name is bounded, because many symbols with one huge name would take quadratic time.
    uint64_t room = symbol.st_name < dynamic.stringsSize ? dynamic.stringsSize - symbol.st_name : 0;
    room = std::min<uint64_t>(room, fmt::kMaxEntryName + sizeof TENON_FACTS_SUFFIX);
    const char *name = reinterpret_cast<const char *>(strings) + symbol.st_name;
    if (strnlen(name, room) == room)
      return FAIL("the name of symbol %llu has no end", (unsigned long long)i);
    if (type == STT_OBJECT) {
      if (const uint8_t *bytes = at(symbol.st_value, symbol.st_size))
        elf.objects.push_back({name, bytes, symbol.st_size});
      continue;
    }
    bool inCode = false;
    for (const ElfFile::Segment &segment : elf.segments)
      inCode |=
          segment.execute && symbol.st_value >= segment.address && symbol.st_value - segment.address < segment.fileSize;
    if (!inCode || (machine == EM_AARCH64 && symbol.st_value % 4))
      return FAIL("function '%s' does not lie in executable memory", name);
    elf.functions.push_back({name, symbol.st_value});
  }
  std::sort(elf.functions.begin(), elf.functions.end(), [](const ElfFile::Function &a, const ElfFile::Function &b) {
    int order = strcmp(a.name, b.name);
    return order ? order < 0 : a.address < b.address;
  });
  std::sort(elf.objects.begin(), elf.objects.end(), [](const ElfFile::Object &a, const ElfFile::Object &b) {
    int order = strcmp(a.name, b.name);
    return order ? order < 0 : a.bytes < b.bytes;
  });
  return {};
}

Status Parser::run() {
  TENON_TRY(readHeader());
  if (elf.segments.empty())
    return FAIL("no segments to load");
  const ElfFile::Segment &last = elf.segments.back();
  elf.imageSize = (last.address + last.memorySize + pageSize - 1) & ~(pageSize - 1);
  if (!elf.imageSize)
    return FAIL("no segments to load");
  TENON_TRY(readDynamic());
  if (dynamic.relaSize)
    TENON_TRY(readRela());
  if (dynamic.relrSize)
    TENON_TRY(readRelr());
  return readSymbols();
}

Status ElfFile::parse(const uint8_t *file, size_t fileSize, uint16_t machine, uint64_t pageSize) {
  bytes = file;
  size = fileSize;
  segments.clear();
  relocations.clear();
  functions.clear();
  objects.clear();
  imageSize = 0;
  return Parser(*this, machine, pageSize).run();
}

template <typename Symbol> static const Symbol *findByName(const std::vector<Symbol> &symbols, const char *name) {
  auto found = std::lower_bound(symbols.begin(), symbols.end(), name,
                                [](const Symbol &a, const char *wanted) { return strcmp(a.name, wanted) < 0; });
  return found != symbols.end() && strcmp(found->name, name) == 0 ? &*found : nullptr;
}

const ElfFile::Function *ElfFile::find(const char *name) const { return findByName(functions, name); }

const ElfFile::Object *ElfFile::findObject(const char *name) const { return findByName(objects, name); }

} // namespace tenon::rt
