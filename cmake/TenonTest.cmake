# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Helpers of the test folders.

# Catch2's main(), compiled once and without optimization: it is 17,000 lines of a header.
find_package(Catch2 2 REQUIRED)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/catch_main.cpp CONTENT "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n" @ONLY)
add_library(tenon_catch_main STATIC ${CMAKE_BINARY_DIR}/catch_main.cpp)
target_compile_options(tenon_catch_main PRIVATE -O0)
target_link_libraries(tenon_catch_main PUBLIC Catch2::Catch2)

# To parse that header takes a second, as long as the rest of most tests. Those of what includes MLIR have a larger header precompiled.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/catch_precompiled.cpp CONTENT "// Has the precompiled header alone.\n" @ONLY)
tenon_add_precompiled_header(tenon_catch_pch <catch2/catch.hpp> ${CMAKE_BINARY_DIR}/catch_precompiled.cpp LINK Catch2::Catch2)
# Most of what is left is to optimize CHECKs, which run for milliseconds. A precompiled header and what uses it are optimized alike.
set(TENON_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
if(TARGET tenon_catch_pch)
  target_compile_options(tenon_catch_pch PRIVATE ${TENON_TEST_OPTIONS})
endif()

# tenon_add_unit_test(NAME sources... [LINK libraries...] [MLIR])
#
# One Catch2 program, registered with ctest under NAME. The sources hold TEST_CASEs alone: main is linked.
# MLIR: the sources include MLIR's headers, which are precompiled.
function(tenon_add_unit_test name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tenon_catch_main ${ARG_LINK})
  if(ARG_MLIR)
    tenon_precompile(${name})
  else()
    tenon_precompile(${name} tenon_catch_pch)
    target_compile_options(${name} PRIVATE ${TENON_TEST_OPTIONS})
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()
