//===- ProfilesLock.cpp - the records that a compilation went by -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ProfilesLock.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/errors/CompileError.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace tenon;

llvm::Expected<std::vector<ProfileRecord>> tenon::readProfilesLock(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return makeError(CompileStatus::invalid, file + ": " + buffer.getError().message());
  std::vector<ProfileRecord> records;
  llvm::Error firstFault = llvm::Error::success();
  forEachJsonLine((*buffer)->getBuffer(), [&](size_t line, llvm::Expected<ProfileRecord> record) {
    if (record)
      records.push_back(std::move(*record));
    else if (firstFault)
      llvm::consumeError(record.takeError());
    else
      firstFault = prefixError(record.takeError(), file + ": line " + llvm::Twine(line) + " is no record: ");
  });
  if (firstFault)
    return firstFault;
  return records;
}

llvm::Error tenon::writeProfilesLock(const std::string &file, llvm::ArrayRef<ProfileRecord> records) {
  std::set<std::string> lines;
  for (const ProfileRecord &record : records)
    lines.insert(toJsonLine(record));
  llvm::Error error = writeOutputFile(file, [&](llvm::raw_pwrite_stream &os) {
    for (const std::string &line : lines)
      os << line;
  });
  return error ? makeError(CompileStatus::resources, "cannot write " + file + ": " + llvm::toString(std::move(error)))
               : llvm::Error::success();
}
