//===- OutputFile.cpp - a file that appears whole or not at all ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/stat.h>

using namespace tenon;

/// Returns the error of a stream, if there was one, and clears it: an unhandled error would abort the program in the
/// stream's destructor.
static llvm::Error takeError(llvm::raw_fd_ostream &os) {
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return llvm::errorCodeToError(error);
}

static llvm::Error writeInPlace(const std::string &path, llvm::function_ref<void(llvm::raw_pwrite_stream &)> write) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return llvm::errorCodeToError(error);
  if (os.supportsSeeking()) {
    write(os);
  } else {
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream buffer(bytes);
    write(buffer);
    os << bytes;
  }
  return takeError(os);
}

/// What open would give a new file.
static llvm::sys::fs::perms getNewFilePermissions() {
  mode_t mask = umask(0);
  umask(mask);
  return static_cast<llvm::sys::fs::perms>(0666 & ~mask);
}

llvm::Error tenon::writeOutputFile(const std::string &path, llvm::function_ref<void(llvm::raw_pwrite_stream &)> write) {
  llvm::sys::fs::file_status status;
  if (path == "-" || (!llvm::sys::fs::status(path, status) && !llvm::sys::fs::is_regular_file(status)))
    return writeInPlace(path, write);
  // A symbolic link is kept, and its target is replaced.
  llvm::SmallString<128> place(path);
  if (llvm::sys::fs::exists(path))
    if (std::error_code error = llvm::sys::fs::real_path(path, place))
      return llvm::errorCodeToError(error);
  llvm::Expected<llvm::sys::fs::TempFile> file = llvm::sys::fs::TempFile::create(place + "-%%%%%%%%");
  if (!file)
    return file.takeError();
  llvm::Error error = llvm::Error::success();
  {
    llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    write(os);
    error = takeError(os);
  }
  if (!error)
    error = llvm::errorCodeToError(llvm::sys::fs::setPermissions(file->FD, getNewFilePermissions()));
  if (error)
    return llvm::joinErrors(std::move(error), file->discard());
  return file->keep(place);
}
