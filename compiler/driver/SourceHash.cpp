//===- SourceHash.cpp - a number that tells sources of artifacts apart ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/SourceHash.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/raw_ostream.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;

namespace {

/// Hashes what is written to it, and keeps nothing.
class HashStream : public llvm::raw_ostream {
public:
  HashStream() { XXH3_64bits_reset(&state); }
  ~HashStream() override { flush(); }
  uint64_t getHash() {
    flush();
    return XXH3_64bits_digest(&state);
  }

private:
  void write_impl(const char *data, size_t size) override {
    XXH3_64bits_update(&state, data, size);
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  XXH3_state_t state;
  uint64_t position = 0;
};

} // namespace

uint64_t tenon::hashModule(ModuleOp module) {
  HashStream stream;
  (void)writeBytecodeToFile(module, stream);
  return stream.getHash();
}
