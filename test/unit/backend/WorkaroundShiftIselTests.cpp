//===- WorkaroundShiftIselTests.cpp - masks that become shifts -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/WorkaroundShiftIsel.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <catch2/catch.hpp>

/// Whether a function of `x`, of which the last value is returned, has another form afterwards; then there is no mask.
static bool isUnited(const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::string text = "define i64 @f(i64 %x, i64 %y) {\n" + body + "\n ret i64 %r\n}";
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  INFO(error.getMessage().str());
  REQUIRE(module);
  llvm::Function &function = *module->getFunction("f");
  bool isChanged = tenon::workaroundShiftIsel(function);
  bool hasMask = llvm::any_of(llvm::instructions(function),
                              [](llvm::Instruction &each) { return each.getOpcode() == llvm::Instruction::And; });
  REQUIRE(hasMask != isChanged);
  return isChanged;
}

TEST_CASE("a mask of a shift becomes a shift where the function has the same without its zeros") {
  // 2^60 - 4: all that is left of 64 bits shifted by 4.
  CHECK(isUnited(
      "%s = lshr i64 %x, 4\n %m = and i64 %s, 1152921504606846972\n %t = lshr i64 %x, 6\n %r = add i64 %m, %t"));
  CHECK(isUnited(
      "%t = lshr i64 %x, 6\n %s = lshr i64 %x, 3\n %m = and i64 %s, 2305843009213693944\n %r = add i64 %m, %t"));
  SECTION("not without it, or with one of something else") {
    CHECK_FALSE(isUnited("%s = lshr i64 %x, 4\n %m = and i64 %s, 1152921504606846972\n %r = add i64 %m, %x"));
    CHECK_FALSE(isUnited(
        "%s = lshr i64 %x, 4\n %m = and i64 %s, 1152921504606846972\n %t = lshr i64 %y, 6\n %r = add i64 %m, %t"));
    CHECK_FALSE(isUnited(
        "%s = lshr i64 %x, 4\n %m = and i64 %s, 1152921504606846972\n %t = lshr i64 %x, 5\n %r = add i64 %m, %t"));
  }
  SECTION("not where no address scales by as much") {
    CHECK_FALSE(isUnited(
        "%s = lshr i64 %x, 4\n %m = and i64 %s, 1152921504606846960\n %t = lshr i64 %x, 8\n %r = add i64 %m, %t"));
  }
  SECTION("not where it drops bits that may be set") {
    CHECK_FALSE(isUnited("%s = lshr i64 %x, 4\n %m = and i64 %s, 1020\n %t = lshr i64 %x, 6\n %r = add i64 %m, %t"));
    CHECK(isUnited("%z = lshr i64 %x, 50\n %s = lshr i64 %z, 4\n %m = and i64 %s, 1020\n %t = lshr i64 %z, 6\n %r = "
                   "add i64 %m, %t"));
  }
}
