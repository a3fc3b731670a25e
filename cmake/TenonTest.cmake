# Helpers of the test folders.

# tenon_add_unit_test(NAME sources... [LINK libraries...])
#
# One Catch2 program, registered with ctest under NAME. The sources hold TEST_CASEs alone: main is linked.
function(tenon_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  if(NOT TARGET tenon_catch_main)
    find_package(Catch2 2 REQUIRED)
    file(WRITE ${CMAKE_BINARY_DIR}/catch_main.cpp "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    add_library(tenon_catch_main STATIC ${CMAKE_BINARY_DIR}/catch_main.cpp)
    target_link_libraries(tenon_catch_main PUBLIC Catch2::Catch2)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tenon_catch_main ${ARG_LINK})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
