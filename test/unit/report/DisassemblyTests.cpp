//===- DisassemblyTests.cpp - functions of an object as text -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Disassembly.h"
#include "llvm/BinaryFormat/ELF.h"
#include <catch2/catch.hpp>

using namespace tenon;
namespace elf = llvm::ELF;

namespace {
/// An object with code at address 0x1000, and functions in it.
struct Object {
  struct Function {
    std::string name;
    uint64_t begin, size;
  };
  std::string code;
  std::vector<Function> functions;
  uint16_t machine = elf::EM_X86_64;

  std::string write() const;
};
} // namespace

template <typename T> static void append(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string Object::write() const {
  std::string names(1, '\0'), symbols(sizeof(elf::Elf64_Sym), '\0');
  for (const Function &function : functions) {
    elf::Elf64_Sym symbol{};
    symbol.st_name = names.size();
    symbol.setBindingAndType(elf::STB_GLOBAL, elf::STT_FUNC);
    symbol.st_shndx = 3;
    symbol.st_value = 0x1000 + function.begin;
    symbol.st_size = function.size;
    append(symbols, symbol);
    names += function.name + '\0';
  }
  elf::Elf64_Ehdr header{};
  memcpy(header.e_ident, elf::ElfMagic, 4);
  header.e_ident[elf::EI_CLASS] = elf::ELFCLASS64;
  header.e_ident[elf::EI_DATA] = elf::ELFDATA2LSB;
  header.e_type = elf::ET_DYN;
  header.e_machine = machine;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(elf::Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shoff = sizeof header;
  elf::Elf64_Shdr sections[4] = {};
  uint64_t at = sizeof header + sizeof sections;
  auto place = [&](elf::Elf64_Shdr &section, uint32_t type, const std::string &content) {
    section.sh_type = type;
    section.sh_offset = at;
    section.sh_size = content.size();
    at += content.size();
  };
  place(sections[1], elf::SHT_DYNSYM, symbols);
  sections[1].sh_entsize = sizeof(elf::Elf64_Sym);
  sections[1].sh_link = 2;
  place(sections[2], elf::SHT_STRTAB, names);
  place(sections[3], elf::SHT_PROGBITS, code);
  sections[3].sh_addr = 0x1000;
  std::string bytes;
  append(bytes, header);
  append(bytes, sections);
  return bytes + symbols + names + code;
}

static std::string getError(const std::string &bytes) {
  auto kernels = disassemble(bytes, 100);
  REQUIRE_FALSE(bool(kernels));
  return llvm::toString(kernels.takeError());
}

TEST_CASE("jumps lead to labels, and what is no instruction is said") {
  Object object;
  // je +1; nop; ret, and a function of a byte that begins no instruction in 64-bit code, and a jump out of it.
  object.code = std::string("\x74\x01\x90\xc3\x06\xeb\x40", 7);
  object.functions = {{"first", 0, 4}, {"second", 4, 3}};
  auto kernels = disassemble(object.write(), 100);
  REQUIRE(bool(kernels));
  REQUIRE(kernels->size() == 2);
  KernelCode &first = (*kernels)["first"], &second = (*kernels)["second"];
  CHECK(first.text == "  je L0\n  nop\nL0:\n  retq\n");
  CHECK((first.bytes == 4 && first.instructions == 3));
  CHECK(second.text == "  (no instruction)\n  jmp 64\n");
}

TEST_CASE("long functions are cut off, and say so") {
  Object object;
  object.code = std::string(1500, '\x90');
  object.functions = {{"f", 0, 1500}};
  auto kernels = disassemble(object.write(), 2);
  REQUIRE(bool(kernels));
  CHECK((*kernels)["f"].text == "  nop\n  nop\nand 1,498 more instructions\n");
  CHECK((*kernels)["f"].instructions == 1500);
}

TEST_CASE("code of other processors is read, as far as they are known") {
  Object object;
  object.code = std::string("\x21\x00\x00\x54\x1f\x20\x03\xd5\xc0\x03\x5f\xd6", 12);
  object.functions = {{"f", 0, 12}};
  object.machine = elf::EM_AARCH64;
  auto kernels = disassemble(object.write(), 100);
  REQUIRE(bool(kernels));
  CHECK((*kernels)["f"].text == "  b.ne L0\nL0:\n  nop\n  ret\n");
  object.machine = elf::EM_RISCV;
  CHECK(getError(object.write()) == "is for a processor that has no disassembler here");
}

TEST_CASE("objects that are wrong are errors") {
  CHECK(!getError("").empty());
  CHECK(!getError("no object at all, but text that is longer than a header would be, and then some").empty());
  Object object;
  object.code = std::string(8, '\x90');
  object.functions = {{"f", 4, 5}};
  CHECK(getError(object.write()) == "has a function that is not in its section");
  object.functions = {{"f", uint64_t(-8), 4}};
  CHECK(getError(object.write()) == "has a function that is not in its section");
  // As many functions of the same bytes as one likes would take as long as one likes.
  object.code = std::string(100'000, '\x90');
  object.functions = {{"f", 0, 100'000}, {"g", 0, 100'000}};
  CHECK(getError(object.write()) == "has functions that overlap");
  object.functions.pop_back();
  std::string bytes = object.write();
  for (size_t size = 0; size < 600; ++size)
    CHECK(!getError(bytes.substr(0, size)).empty());
}
