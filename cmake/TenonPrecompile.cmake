# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Headers that are parsed once.

option(TENON_PRECOMPILED_HEADERS "Parse headers of MLIR and Catch2 once instead of in each translation unit" ON)

# tenon_add_precompiled_header(NAME header source [DEPENDS generated...] [LINK libraries...])
#
# A target that owns a precompiled header; `source` is its translation unit.
function(tenon_add_precompiled_header name header source)
  if(NOT TENON_PRECOMPILED_HEADERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_precompile_headers(${name} PRIVATE ${header})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # Equal sources give an equal header, so that ccache finds what was compiled with it in another folder or at another time.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tenon_precompile(TARGET [OWNER])
#
# Compiles TARGET with the precompiled header of OWNER; without one TARGET includes MLIR's headers, and gets the folder's.
function(tenon_precompile target)
  set(owner ${ARGN})
  if(NOT owner)
    set(owner ${TENON_PCH})
  endif()
  if(NOT TARGET ${owner})
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # libstdc++ 12 disables the warning by a pragma where std::stable_sort uses std::get_temporary_buffer; the pragma is lost in a
    # precompiled header. A build without one still warns.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # The header is compiled as for a library (-fPIC); clang takes no other for code of an executable (-fPIE).
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()
