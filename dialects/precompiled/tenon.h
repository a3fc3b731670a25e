//===- tenon.h - MLIR's and the dialects' headers, precompiled ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For passes, compiler, tools and tests, all of which are compiled again when a dialect changes in any case.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "dialects/precompiled/mlir.h"
#include "dialects/tenon/Tenon.h"

#include <nlohmann/json.hpp>
