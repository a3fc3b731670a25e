//===- ErrorStream.cpp - errors for people, and for programs ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/ErrorStream.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace {
/// Writes to standard error and to a file in memory. A forked process shares that file and its offset, so that messages
/// of a child process that ends early are kept, too.
class ErrorStream : public llvm::raw_ostream {
public:
  ErrorStream() : raw_ostream(/*unbuffered=*/true) {}
  ~ErrorStream() override = default;

  void keep() {
    if (copy < 0)
      copy = memfd_create("errors", MFD_CLOEXEC);
  }

  std::string getKept() const {
    if (copy < 0)
      return "";
    auto buffer = llvm::MemoryBuffer::getOpenFileSlice(copy, "errors", lseek(copy, 0, SEEK_CUR), 0);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

private:
  void write_impl(const char *text, size_t size) override {
    llvm::errs().write(text, size);
    llvm::errs().flush();
    written += size;
    while (copy >= 0 && size) {
      ssize_t count = ::write(copy, text, size);
      if (count <= 0)
        return;
      text += count;
      size -= static_cast<size_t>(count);
    }
  }
  uint64_t current_pos() const override { return written; }

  int copy = -1;
  uint64_t written = 0;
};
} // namespace

static ErrorStream &getStream() {
  static ErrorStream stream;
  return stream;
}

llvm::raw_ostream &tenon::errors() { return getStream(); }

int tenon::finish(llvm::Expected<int> status) {
  if (status)
    return *status;
  std::string message;
  CompileStatus category = takeError(status.takeError(), message);
  errors() << "tenon: error: " << message << '\n';
  return static_cast<int>(category);
}

void tenon::keepErrors() { getStream().keep(); }

void tenon::printKeptErrors(int exitCode, llvm::raw_ostream &os) {
  std::string text = getStream().getKept();
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::vector<std::string> errors, warnings;
  for (llvm::StringRef line : lines)
    if (line.consume_front("tenon: error: "))
      errors.push_back(line.str());
    else if (line.consume_front("tenon: warning: "))
      warnings.push_back(line.str());
  if (errors.empty())
    return;
  nlohmann::ordered_json object = {{"exit_code", exitCode}, {"errors", errors}};
  if (!warnings.empty())
    object["warnings"] = warnings;
  // Names in messages come from untrusted models: invalid UTF-8 becomes U+FFFD.
  os << object.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace)
     << '\n';
}
