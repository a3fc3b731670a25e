# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Takes from the IR in INPUT the attributes that name a CPU, and writes OUTPUT. A function that names none is
# compiled for the kernel's CPU, and is inlined into any kernel.

file(READ ${INPUT} text)
set(names "target-cpu|target-features|tune-cpu|frame-pointer|min-legal-vector-width|stack-protector-buffer-size")
string(REGEX REPLACE " \"(${names})\"=\"[^\"]*\"" "" text "${text}")
# -ffreestanding says that no function is what its name says. It would forbid inlining into kernels, which do not
# say so; only memcpy and its kin need it, or their loops would become calls of themselves.
if(NOT INPUT MATCHES "memory")
  string(REGEX REPLACE " \"no-builtins\"" "" text "${text}")
endif()
file(WRITE ${OUTPUT} "${text}")
