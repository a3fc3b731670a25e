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

/// Reads a whole regular file. `followsLinks` is false for files that the user did not name, so that a folder cannot
/// make a program read files outside of it. Fails with TENON_INVALID, and a message that begins with the path, if there
/// is none; with TENON_RESOURCES if it exceeds 512 MiB.
Status readFile(const std::string &path, bool followsLinks, std::string &content);

/// True if there is a file, a link or a folder of that name.
bool existsFile(const std::string &path);
bool isFolder(const std::string &path);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_FOLDERFILE_H
