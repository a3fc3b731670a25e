# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiler flags that hold for all of Tenon's own code.

find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With precompiled headers ccache works by the compiler's own list of dependencies (depend mode), not by preprocessed text, and may
  # ignore what such a header could hide: macros defined before it is included (there are none) and __DATE__ or __TIME__ (not used).
  # The inode cache keeps it from hashing the header of 170 MB once for each translation unit.
  set(_launcher ${CMAKE_COMMAND} -E env
      CCACHE_DEPEND=1 CCACHE_INODECACHE=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${TENON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-fcolor-diagnostics)
  # clang finds the lld of its own version beside itself; linking against libMLIR is several times faster with it.
  find_program(TENON_LLD NAMES ld.lld-22 ld.lld)
  if(TENON_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(TENON_SANITIZE)
  add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TENON_SANITIZE})
  if(TENON_SANITIZE MATCHES "address,undefined")
    # The address sanitizer reports what these two would, and compiling takes a sixth less time without them.
    add_compile_options(-fno-sanitize=null,object-size)
  endif()
endif()

if(TENON_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
