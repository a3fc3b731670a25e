# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `cmake --install` puts where: programs, the public headers, and the runtime as a shared library and an archive
# that C programs link without a C++ compiler, found by pkg-config and find_package(TenonRuntime).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
find_package(Threads REQUIRED)

set(tenon_runtime_parts tenon_runtime tenon_runtime_base tenon_runtime_cpu tenon_runtime_plan tenon_runtime_plugins)

# The C++ library is linked in, and hidden: users have another one, or none.
set(whole -Wl,--whole-archive)
foreach(part ${tenon_runtime_parts})
  list(APPEND whole $<TARGET_FILE:${part}>)
endforeach()
list(APPEND whole -Wl,--no-whole-archive)
set(map ${CMAKE_CURRENT_SOURCE_DIR}/runtime/tenon_runtime.map)
file(WRITE ${CMAKE_BINARY_DIR}/runtime/shared.c "/* The objects come from the archives. */\n")
add_library(tenon_runtime_shared SHARED ${CMAKE_BINARY_DIR}/runtime/shared.c)
add_dependencies(tenon_runtime_shared ${tenon_runtime_parts})
set_target_properties(tenon_runtime_shared PROPERTIES
  OUTPUT_NAME tenon_runtime
  EXPORT_NAME runtime
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${map})
target_include_directories(tenon_runtime_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_options(tenon_runtime_shared PRIVATE
  -static-libstdc++ -static-libgcc "LINKER:--version-script=${map}" "LINKER:--no-undefined" "LINKER:--gc-sections" "LINKER:--as-needed")
target_link_libraries(tenon_runtime_shared PRIVATE ${whole} Threads::Threads ${CMAKE_DL_LIBS})

# One object of all objects, the C++ library's among them, in which the public functions alone are global.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a OUTPUT_VARIABLE libstdcxx OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgcc_eh.a OUTPUT_VARIABLE libgcc_eh OUTPUT_STRIP_TRAILING_WHITESPACE)
set(archive ${CMAKE_BINARY_DIR}/lib/static/libtenon_runtime.a)
set(object ${CMAKE_BINARY_DIR}/lib/static/tenon_runtime.o)
set(parts)
foreach(part ${tenon_runtime_parts})
  list(APPEND parts $<TARGET_FILE:${part}>)
endforeach()
add_custom_command(
  OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib/static
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive} ${object}
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} --whole-archive ${parts} --no-whole-archive ${libstdcxx} ${libgcc_eh}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=tenon_* ${object}
  COMMAND ${CMAKE_AR} rcs ${archive} ${object}
  DEPENDS ${tenon_runtime_parts}
  COMMENT "Linking the runtime's archive"
  VERBATIM)
add_custom_target(tenon_runtime_archive ALL DEPENDS ${archive})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/TenonRuntime)
configure_file(runtime/tenon-runtime.pc.in ${CMAKE_BINARY_DIR}/runtime/tenon-runtime.pc @ONLY)
configure_package_config_file(runtime/TenonRuntimeConfig.cmake.in ${CMAKE_BINARY_DIR}/runtime/TenonRuntimeConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/runtime/TenonRuntimeConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# Without the compiler: cmake --install build --component runtime
install(TARGETS tenon_runtime_shared EXPORT TenonRuntimeTargets LIBRARY COMPONENT runtime NAMELINK_COMPONENT runtime)
install(EXPORT TenonRuntimeTargets NAMESPACE Tenon:: DESTINATION ${package} COMPONENT runtime)
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(FILES runtime/include/tenon/runtime.h runtime/include/tenon/plugin.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon COMPONENT runtime)
install(FILES ${CMAKE_BINARY_DIR}/runtime/tenon-runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
install(FILES ${CMAKE_BINARY_DIR}/runtime/TenonRuntimeConfig.cmake ${CMAKE_BINARY_DIR}/runtime/TenonRuntimeConfigVersion.cmake
  DESTINATION ${package} COMPONENT runtime)
install(TARGETS tenon-run tenon-run-static COMPONENT runtime)
if(TARGET tenon-plugin-image)
  install(TARGETS tenon-plugin-image DESTINATION lib/tenon COMPONENT runtime)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
if(TENON_BUILD_COMPILER)
  install(TARGETS tenon tenon-opt tenon-lsp-server COMPONENT compiler)
endif()
