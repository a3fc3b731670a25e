# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds the ONNX C++ library that tools/setup built, and gives the target tenon_onnx.
#
# TENON_DEPS (cache variable, else environment, else <source>/.deps) is the folder that tools/setup filled.
# The library holds parser, checker, shape inference, function inliner and version converter, over Debian's
# shared protobuf. Operator schemas register themselves on first use: no whole-archive linking is needed.

set(TENON_DEPS "$ENV{TENON_DEPS}" CACHE PATH "The folder that tools/setup filled")
set(_deps "${TENON_DEPS}")
if(NOT _deps)
  set(_deps "${CMAKE_SOURCE_DIR}/.deps")
endif()

find_path(TenonOnnx_INCLUDE_DIR onnx/onnx_pb.h PATHS ${_deps}/onnx/include NO_DEFAULT_PATH)
find_library(TenonOnnx_LIBRARY NAMES libonnx.a PATHS ${_deps}/onnx/lib NO_DEFAULT_PATH)
find_package(Protobuf 3.21 QUIET MODULE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  TenonOnnx
  REQUIRED_VARS TenonOnnx_LIBRARY TenonOnnx_INCLUDE_DIR Protobuf_FOUND
  REASON_FAILURE_MESSAGE "looked in ${_deps}/onnx: run tools/setup, or set TENON_DEPS to a folder it filled")
mark_as_advanced(TenonOnnx_INCLUDE_DIR TenonOnnx_LIBRARY)

if(TenonOnnx_FOUND AND NOT TARGET tenon_onnx)
  add_library(tenon_onnx INTERFACE)
  target_include_directories(tenon_onnx SYSTEM INTERFACE ${TenonOnnx_INCLUDE_DIR})
  # As the library was built: ONNX's headers give other declarations without them.
  target_compile_definitions(tenon_onnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
  target_link_libraries(tenon_onnx INTERFACE ${TenonOnnx_LIBRARY} protobuf::libprotobuf)
endif()
