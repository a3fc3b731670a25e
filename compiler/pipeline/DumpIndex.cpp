//===- DumpIndex.cpp - a page for looking through dumps --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/DumpIndex.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tenon;

/// Returns JSON that is safe within a script element: it contains no end tag.
static std::string toScriptJson(llvm::json::Value value) {
  std::string text = llvm::formatv("{0}", value).str(), escaped;
  for (char c : text)
    escaped += c == '<' ? "\\u003c" : std::string(1, c);
  return escaped;
}

static llvm::json::Value describe(StringRef sourceName, ArrayRef<DumpedFile> files, bool isCompressed) {
  llvm::json::Array rows;
  for (const DumpedFile &file : files)
    rows.push_back(llvm::json::Object{{"name", llvm::json::fixUTF8(file.name)},
                                      {"pass", llvm::json::fixUTF8(file.pass)},
                                      {"scope", llvm::json::fixUTF8(file.scope)},
                                      {"ms", file.seconds * 1e3},
                                      {"bytes", static_cast<int64_t>(file.bytes)}});
  return llvm::json::Object{{"model", llvm::json::fixUTF8(llvm::sys::path::filename(sourceName))},
                            {"compressed", isCompressed},
                            {"files", std::move(rows)}};
}

/// Returns the compressed text of a file, which the script decompresses when it is displayed: dozens of megabytes
/// shrink to a few.
static std::string pack(StringRef path, bool isCompressed) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  StringRef text = buffer ? (*buffer)->getBuffer() : StringRef();
  if (!isCompressed)
    return llvm::encodeBase64(text);
  SmallVector<uint8_t> packed;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(text), packed,
                                    llvm::compression::zlib::BestSpeedCompression);
  return llvm::encodeBase64(packed);
}

void tenon::printDumpIndex(StringRef sourceName, StringRef folder, ArrayRef<DumpedFile> files, llvm::raw_ostream &os) {
  bool isCompressed = llvm::compression::zlib::isAvailable();
  os << "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n"
        "<title>IR after each pass</title>\n<style>"
     << kDumpIndexStyle << "</style>\n<body>\n<script type=\"application/json\" id=\"index\">"
     << toScriptJson(describe(sourceName, files, isCompressed)) << "</script>\n";
  for (auto [i, file] : llvm::enumerate(files))
    os << "<script type=\"application/octet-stream\" id=\"f" << i << "\">"
       << pack((folder + "/" + file.name).str(), isCompressed) << "</script>\n";
  os << "<script>" << kDumpIndexScript << "</script>\n</body>\n</html>\n";
}
