//===- TileTrap.h - AMX instructions on a processor without ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_LIB_TILES_TILETRAP_H
#define TENON_TEST_LIB_TILES_TILETRAP_H

namespace tenon {

/// From now on a thread that meets an AMX instruction, which this processor refuses, has it computed. One
/// that such a processor would refuse, too, ends the program as any other illegal instruction does.
void trapTileInstructions();

} // namespace tenon

#endif // TENON_TEST_LIB_TILES_TILETRAP_H
