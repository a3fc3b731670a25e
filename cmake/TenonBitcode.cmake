# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Libraries in C that are compiled to bitcode, for each architecture, and embedded in the compiler.

find_program(TENON_CLANG clang-22 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(TENON_LLVM_LINK NAMES llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

set(TENON_STRIP_ATTRIBUTES ${CMAKE_SOURCE_DIR}/compiler/backend/llvm/math/strip_attributes.cmake)

# tenon_embed_bitcode(TARGET EMBEDDER.cpp NAME name TITLE title SOURCES file.c... FLAGS flag... [DEPENDS file...])
#
# Compiles the C sources of this folder to name-ARCH.bc in the build folder, and adds the library TARGET, whose source
# EMBEDDER.cpp includes these files from TENON_BITCODE_DIR. The target TARGET_bitcode makes the files alone.
function(tenon_embed_bitcode target embedder)
  cmake_parse_arguments(ARG "" "NAME;TITLE" "SOURCES;FLAGS;DEPENDS" ${ARGN})
  foreach(arch x86_64 aarch64)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${arch})
    set(modules)
    foreach(source ${ARG_SOURCES})
      get_filename_component(stem ${source} NAME_WE)
      set(ir ${CMAKE_CURRENT_BINARY_DIR}/${arch}/${stem}.ll)
      add_custom_command(
        OUTPUT ${ir}
        COMMAND
          ${TENON_CLANG} --target=${arch}-unknown-linux-gnu -std=c17 -ffreestanding -O2 ${ARG_FLAGS} -fPIC
          -fno-stack-protector -fomit-frame-pointer -fno-asynchronous-unwind-tables -Wall -Wextra
          -S -emit-llvm ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${ir}.tmp
        COMMAND ${CMAKE_COMMAND} -DINPUT=${ir}.tmp -DOUTPUT=${ir} -P ${TENON_STRIP_ATTRIBUTES}
        DEPENDS ${source} ${ARG_DEPENDS} ${TENON_STRIP_ATTRIBUTES}
        COMMENT "${ARG_TITLE}: ${stem} for ${arch}")
      list(APPEND modules ${ir})
    endforeach()
    set(bitcode ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}-${arch}.bc)
    add_custom_command(
      OUTPUT ${bitcode}
      COMMAND ${TENON_LLVM_LINK} ${modules} -o ${bitcode}
      DEPENDS ${modules})
    list(APPEND bitcodes ${bitcode})
  endforeach()

  add_custom_target(${target}_bitcode DEPENDS ${bitcodes})
  add_library(${target} STATIC ${embedder})
  # ccache does not see what .incbin reads, and would give an object with older bitcode.
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  add_dependencies(${target} ${target}_bitcode)
  target_compile_definitions(${target} PRIVATE TENON_BITCODE_DIR="${CMAKE_CURRENT_BINARY_DIR}")
  # The assembler reads the bitcode, which the compiler's dependency file does not know.
  set_source_files_properties(${embedder} PROPERTIES OBJECT_DEPENDS "${bitcodes}")
endfunction()
