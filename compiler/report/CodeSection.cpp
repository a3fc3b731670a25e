//===- CodeSection.cpp - IR and assembly of kernels in a page --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/CodeSection.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/CompileRecord.h"
#include "compiler/report/Disassembly.h"
#include "compiler/report/Html.h"
#include "compiler/report/LaunchNames.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

/// limit: instructions of a kernel, and bytes of all texts; beyond it, later kernels are omitted.
static constexpr uint64_t kMaxInstructions = 1200, kMaxBytes = 4 << 20;

namespace {
class CodePrinter {
public:
  CodePrinter(const ArtifactView &view, const CompileRecord *record, llvm::raw_ostream &os)
      : view(view), record(record), meta(readMeta(view)), os(os) {}
  void print(llvm::ArrayRef<uint32_t> kernels);

private:
  void printKernel(uint32_t index, const KernelCode &code, const CompileRecord::KernelIR &ir);
  void printText(const char *title, const std::string &text);

  const ArtifactView &view;
  const CompileRecord *record;
  nlohmann::ordered_json meta; // that names of kernels are from
  llvm::raw_ostream &os;
  uint64_t printed = 0;
};
} // namespace

/// Makes each line printable separately: names in attributes may contain any character.
static std::string getPrintableLines(llvm::StringRef text) {
  std::string lines;
  for (llvm::StringRef line : llvm::split(text.rtrim('\n'), '\n'))
    lines += getPrintable(line) + "\n";
  return lines;
}

void CodePrinter::printText(const char *title, const std::string &text) {
  if (text.empty())
    return;
  os << "<h3>" << title << "</h3>\n";
  if (printed + text.size() > kMaxBytes) {
    os << "<p class=\"note\">left out: the texts of all kernels are longer than " << bytesText(kMaxBytes) << "</p>\n";
    return;
  }
  printed += text.size();
  os << "<pre tabindex=\"0\">" << Html(getPrintableLines(text)) << "</pre>\n";
}

void CodePrinter::printKernel(uint32_t index, const KernelCode &code, const CompileRecord::KernelIR &ir) {
  os << "<details><summary><span class=\"name\">" << Html(getPrintable(view.getPlan().kernels[index].name))
     << "</span> " << Html(nameKernel(view, meta, index));
  if (code.bytes)
    os << ": " << groupDigits(code.instructions) << " instructions in " << groupDigits(code.bytes) << " bytes";
  os << "</summary>\n<div id=\"c" << index << "\">\n";
  printText("Operations that were fused", ir.tensors);
  printText("Tiled, on buffers, with its schedule", ir.buffers);
  printText("Assembly", code.text);
  if (code.text.empty())
    os << "<p class=\"note\">The code section has no function of this name.</p>\n";
  os << "</div></details>\n";
}

void CodePrinter::print(llvm::ArrayRef<uint32_t> kernels) {
  if (kernels.empty())
    return;
  os << beginSection("Code") << "<p class=\"note\">"
     << (record ? "IR and assembly of each kernel."
                : "Assembly of each kernel; <code>tenon compile --report</code> shows their IR, too.")
     << " <code>tenon compile --dump-ir</code> and <code>--emit asm</code> have all of it.</p>\n";
  llvm::Expected<std::map<std::string, KernelCode>> code = disassemble(view.getCode(), kMaxInstructions);
  std::map<std::string, KernelCode> known;
  if (code)
    known = std::move(*code);
  else
    os << "<p>There is no assembly: the code section " << Html(getPrintable(llvm::toString(code.takeError())))
       << "</p>\n";
  for (uint32_t index : kernels) {
    std::string name = view.getPlan().kernels[index].name;
    bool hasIR = record && record->kernels.count(name);
    printKernel(index, known[name], hasIR ? record->kernels.at(name) : CompileRecord::KernelIR());
  }
  os << "</section>\n";
}

void tenon::printCodeSection(const ArtifactView &view, const CompileRecord *record, llvm::ArrayRef<uint32_t> kernels,
                             llvm::raw_ostream &os) {
  CodePrinter(view, record, os).print(kernels);
}
