//===- TenonOps.td - every operation of the dialect ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "dialects/tenon/Composite.td"
include "dialects/tenon/Contraction.td"
include "dialects/tenon/Control.td"
include "dialects/tenon/Elementwise.td"
include "dialects/tenon/Index.td"
include "dialects/tenon/Library.td"
include "dialects/tenon/Random.td"
include "dialects/tenon/Region.td"
include "dialects/tenon/Shape.td"
include "dialects/tenon/State.td"
