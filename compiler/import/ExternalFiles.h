//===- ExternalFiles.h - the files beside a model that hold its tensors ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_EXTERNALFILES_H
#define TENON_COMPILER_IMPORT_EXTERNALFILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

/// A file mapped for reading, unmapped by its last owner.
class MappedFile {
public:
  /// Maps an open file and closes the descriptor, also on failure.
  static llvm::Expected<std::shared_ptr<const MappedFile>> map(int descriptor, std::string name = "");
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;

  llvm::ArrayRef<char> getBytes() const { return {data, size}; }
  /// Evicts pages; they are read again when they are accessed.
  void release(llvm::ArrayRef<char> part) const;
  /// The same of all files that are mapped.
  static void releaseAll();
  /// The path relative to the model's folder; empty if it is not known.
  const std::string &getName() const { return name; }
  /// Lists the mapped files with a name, ordered by name.
  static std::vector<std::pair<std::string, llvm::ArrayRef<char>>> listNamed();
  /// Returns the number of bytes that are stored on disk; the rest are holes.
  uint64_t getBytesOnDisk() const { return bytesOnDisk; }

private:
  MappedFile(const char *data, size_t size);
  const char *data;
  size_t size;
  uint64_t bytesOnDisk = 0;
  std::string name;
  friend class ExternalFiles;
};

/// Opens the files that external tensors name, only within the model's folder: absolute paths, `..` and symbolic links
/// are rejected anywhere in the path (openat2). Each file is mapped once.
class ExternalFiles {
public:
  /// If `folder` is empty, every file is rejected. `onFile` is called with the path of each file, and its bytes on
  /// disk.
  explicit ExternalFiles(std::string folder, std::function<void(llvm::StringRef, uint64_t)> onFile = nullptr)
      : folder(std::move(folder)), onFile(std::move(onFile)) {}
  /// The files belong to the model itself, so an artifact may refer to them.
  void setNames() { givesNames = true; }
  ~ExternalFiles();
  ExternalFiles(const ExternalFiles &) = delete;

  llvm::Expected<std::shared_ptr<const MappedFile>> open(llvm::StringRef location);
  /// Returns the XXH3 of the names and bytes of all opened files.
  uint64_t hash() const;

private:
  llvm::Expected<int> openBeneath(const std::string &location);

  std::string folder;
  std::function<void(llvm::StringRef, uint64_t)> onFile;
  bool givesNames = false;
  int folderDescriptor = -1;
  llvm::StringMap<std::shared_ptr<const MappedFile>> files;
};

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_EXTERNALFILES_H
