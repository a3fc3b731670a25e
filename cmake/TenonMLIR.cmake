# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds MLIR and LLVM 22 and gives the helpers that dialect and pass folders use.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# Everything of LLVM and MLIR comes from their shared libraries.
add_library(tenon_mlir INTERFACE)
target_include_directories(tenon_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_link_libraries(tenon_mlir INTERFACE ${LLVM_LIBRARY_DIR}/libMLIR.so ${LLVM_LIBRARY_DIR}/libLLVM.so)
target_compile_definitions(tenon_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})

# tenon_tablegen(TARGET INPUT.td OUTPUT ARGS... [OUTPUT ARGS...]...)
#
# Runs mlir-tblgen on INPUT.td. Each pair of OUTPUT and ARGS is one generated file.
function(tenon_tablegen target input)
  set(LLVM_TARGET_DEFINITIONS ${input})
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest output args)
    separate_arguments(args)
    mlir_tablegen(${output} ${args} -I${CMAKE_SOURCE_DIR})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

# The precompiled header of a folder's libraries; dialects/ sets another.
set(TENON_PCH tenon_pch)

# tenon_add_library(NAME sources... [DEPENDS generated...] [LINK libraries...])
#
# One static library a folder. It uses MLIR, and what LINK names for itself alone: a target that includes headers of a library, which
# may include generated ones, names that library.
function(tenon_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC tenon_mlir PRIVATE ${ARG_LINK})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
  tenon_precompile(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
