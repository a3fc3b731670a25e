//===- Disassembly.cpp - kernels of an artifact as assembly ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Disassembly.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace tenon;
using llvm::object::ELF64LE;
using ElfFile = llvm::object::ELFFile<ELF64LE>;

namespace {
/// LLVM's disassembler for one processor.
class Disassembler {
public:
  /// Null if LLVM has none for the machine.
  static std::unique_ptr<Disassembler> create(uint16_t machine);

  KernelCode run(llvm::ArrayRef<uint8_t> bytes, uint64_t address, uint64_t maxInstructions);

private:
  struct Line {
    uint64_t address, size;
    llvm::MCInst instruction;
    bool isValid;
  };
  Line decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address) const;
  std::optional<uint64_t> getTarget(const Line &line) const;
  void printLine(const Line &line, const std::map<uint64_t, unsigned> &labels, llvm::raw_ostream &os);

  llvm::Triple triple;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> features;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};
} // namespace

static void initializeDisassemblers() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
  });
}

std::unique_ptr<Disassembler> Disassembler::create(uint16_t machine) {
  initializeDisassemblers();
  auto made = std::make_unique<Disassembler>();
  bool isX86 = machine == llvm::ELF::EM_X86_64;
  if (!isX86 && machine != llvm::ELF::EM_AARCH64)
    return nullptr;
  made->triple = llvm::Triple(isX86 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(made->triple, error);
  if (!target)
    return nullptr;
  made->registers.reset(target->createMCRegInfo(made->triple));
  made->assembly.reset(target->createMCAsmInfo(*made->registers, made->triple, made->options));
  // All instruction set extensions are enabled: the features that the code needs are reported elsewhere.
  made->features.reset(target->createMCSubtargetInfo(made->triple, "", isX86 ? "" : "+all"));
  made->instructions.reset(target->createMCInstrInfo());
  made->analysis.reset(target->createMCInstrAnalysis(made->instructions.get()));
  made->context = std::make_unique<llvm::MCContext>(made->triple, made->assembly.get(), made->registers.get(),
                                                    made->features.get());
  made->decoder.reset(target->createMCDisassembler(*made->features, *made->context));
  made->printer.reset(target->createMCInstPrinter(made->triple, made->assembly->getAssemblerDialect(), *made->assembly,
                                                  *made->instructions, *made->registers));
  return made;
}

Disassembler::Line Disassembler::decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address) const {
  Line line{address, 0, {}, true};
  auto status = decoder->getInstruction(line.instruction, line.size, bytes, address, llvm::nulls());
  line.isValid = status == llvm::MCDisassembler::Success && line.size > 0 && line.size <= bytes.size();
  // Bytes that do not decode are skipped in the smallest steps.
  if (!line.isValid)
    line.size = std::min<uint64_t>(bytes.size(), triple.isX86() ? 1 : 4);
  return line;
}

std::optional<uint64_t> Disassembler::getTarget(const Line &line) const {
  uint64_t target;
  if (!line.isValid || !analysis->isBranch(line.instruction) ||
      !analysis->evaluateBranch(line.instruction, line.address, line.size, target))
    return std::nullopt;
  return target;
}

/// Prints "  vaddps %zmm0, %zmm1, %zmm1", with labels as the targets of jumps.
void Disassembler::printLine(const Line &line, const std::map<uint64_t, unsigned> &labels, llvm::raw_ostream &os) {
  if (auto label = labels.find(line.address); label != labels.end())
    os << 'L' << label->second << ":\n";
  if (!line.isValid) {
    os << "  (no instruction)\n";
    return;
  }
  std::string text;
  llvm::raw_string_ostream textStream(text);
  printer->printInst(&line.instruction, line.address, "", *features, textStream);
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::optional<uint64_t> target = getTarget(line);
  auto label = target ? labels.find(*target) : labels.end();
  llvm::StringRef printed = llvm::StringRef(text).trim();
  // The target is the last operand.
  if (label != labels.end())
    os << "  " << printed.rtrim("+-#0123456789abcdefx").rtrim() << " L" << label->second << '\n';
  else
    os << "  " << printed << '\n';
}

KernelCode Disassembler::run(llvm::ArrayRef<uint8_t> bytes, uint64_t address, uint64_t maxInstructions) {
  KernelCode code;
  code.bytes = bytes.size();
  std::vector<Line> lines;
  std::map<uint64_t, unsigned> labels;
  for (uint64_t at = 0; at < bytes.size();) {
    Line line = decode(bytes.drop_front(at), address + at);
    at += line.size;
    ++code.instructions;
    if (std::optional<uint64_t> target = getTarget(line))
      labels[*target];
    if (lines.size() < maxInstructions)
      lines.push_back(std::move(line));
  }
  // Targets outside of the function are printed as distances; labels are numbered by address.
  labels.erase(labels.begin(), labels.lower_bound(address));
  labels.erase(labels.lower_bound(address + bytes.size()), labels.end());
  unsigned number = 0;
  for (auto &label : labels)
    label.second = number++;
  llvm::raw_string_ostream os(code.text);
  for (const Line &line : lines)
    printLine(line, labels, os);
  if (lines.size() < code.instructions)
    os << "and " << groupDigits(code.instructions - lines.size()) << " more instructions\n";
  return code;
}

namespace {
/// A function of the object.
struct Function {
  llvm::StringRef name;
  llvm::ArrayRef<uint8_t> bytes;
  uint64_t address;
};
} // namespace

/// Adds the functions of one symbol table.
static llvm::Error listFunctions(const ElfFile &file, ELF64LE::ShdrRange sections, const ELF64LE::Shdr &table,
                                 std::vector<Function> &functions) {
  auto names = file.getStringTableForSymtab(table, sections);
  auto symbols = file.symbols(&table);
  if (!names || !symbols)
    return llvm::joinErrors(names.takeError(), symbols.takeError());
  for (const ELF64LE::Sym &symbol : *symbols) {
    if (symbol.getType() != llvm::ELF::STT_FUNC || symbol.st_shndx >= sections.size())
      continue;
    const ELF64LE::Shdr &home = sections[symbol.st_shndx];
    auto name = symbol.getName(*names);
    auto bytes = file.getSectionContents(home);
    if (!name || !bytes)
      return llvm::joinErrors(name.takeError(), bytes.takeError());
    uint64_t begin = symbol.st_value - home.sh_addr;
    if (begin > bytes->size() || symbol.st_size > bytes->size() - begin)
      return llvm::createStringError("has a function that is not in its section");
    functions.push_back({*name, bytes->slice(begin, symbol.st_size), symbol.st_value});
  }
  return llvm::Error::success();
}

/// Those of all tables.
static llvm::Expected<std::vector<Function>> listFunctions(const ElfFile &file) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  std::vector<Function> functions;
  for (const ELF64LE::Shdr &section : *sections)
    if (section.sh_type == llvm::ELF::SHT_DYNSYM)
      if (llvm::Error error = listFunctions(file, *sections, section, functions))
        return error;
  return functions;
}

std::map<std::string, uint64_t> tenon::measureFunctions(llvm::StringRef elf) {
  std::map<std::string, uint64_t> sizes;
  llvm::Expected<ElfFile> file = ElfFile::create(elf);
  llvm::Expected<std::vector<Function>> functions = file ? listFunctions(*file) : file.takeError();
  if (!functions) {
    llvm::consumeError(functions.takeError());
    return sizes;
  }
  for (const Function &function : *functions)
    sizes[function.name.str()] = function.bytes.size();
  return sizes;
}

llvm::Expected<std::map<std::string, KernelCode>> tenon::disassemble(llvm::StringRef elf, uint64_t maxInstructions) {
  llvm::Expected<ElfFile> file = ElfFile::create(elf);
  if (!file)
    return file.takeError();
  std::unique_ptr<Disassembler> disassembler = Disassembler::create(file->getHeader().e_machine);
  if (!disassembler)
    return llvm::createStringError("is for a processor that has no disassembler here");
  llvm::Expected<std::vector<Function>> functions = listFunctions(*file);
  if (!functions)
    return functions.takeError();
  std::map<std::string, KernelCode> kernels;
  uint64_t bytes = 0;
  for (const Function &function : *functions) {
    bytes += function.bytes.size();
    if (bytes > elf.size())
      return llvm::createStringError("has functions that overlap");
    kernels[function.name.str()] = disassembler->run(function.bytes, function.address, maxInstructions);
  }
  return kernels;
}
