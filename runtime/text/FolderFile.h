//===- FolderFile.h - small files of a model's folder ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_FOLDERFILE_H
#define TENON_RUNTIME_TEXT_FOLDERFILE_H

#include "runtime/base/Status.h"

#include <string>

namespace tenon::text {

using rt::Status;

/// Reads a regular file whole. `followsLinks` is false for files whose name nobody gave, so that a folder cannot make
/// a program read what lies outside of it. Fails with TENON_INVALID, and a message that begins with the path, where
/// there is none; with TENON_RESOURCES where it is larger than 512 MiB.
Status readFile(const std::string &path, bool followsLinks, std::string &content);

/// Whether there is a file, a link or a folder of that name.
bool existsFile(const std::string &path);
bool isFolder(const std::string &path);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_FOLDERFILE_H
