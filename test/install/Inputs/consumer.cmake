# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A project outside of the tree, in C alone: it finds the runtime by the package, and links it in both forms.
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(TenonRuntime 0.1 REQUIRED)
add_executable(shared run.c)
target_link_libraries(shared PRIVATE Tenon::runtime)
add_executable(static run.c)
target_link_libraries(static PRIVATE Tenon::runtime_static)
