//===- OperatorsCommand.cpp - tenon operators -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Operators.h"
#include "tools/tenon/Commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace tenon;

static void printOperators(bool json) {
  std::vector<OperatorSupport> operators = getOperatorSupport();
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const OperatorSupport &op : operators)
      list.push_back({{"domain", op.domain}, {"name", op.name}, {"since", op.since}, {"how", op.how}});
    llvm::outs() << list.dump(2) << '\n';
    return;
  }
  const char *row = "{0,-28}{1,-36}{2,5}  {3}\n";
  llvm::outs() << llvm::formatv(row, "domain", "operator", "since", "imported by");
  for (const OperatorSupport &op : operators)
    llvm::outs() << llvm::formatv(row, op.domain, op.name, op.since, op.how);
}

void tenon::addOperatorsCommand(CLI::App &app, int &status) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("operators", "list the supported ONNX operators");
  command->add_flag("--json", *json, "print JSON");
  command->callback([json, &status] {
    printOperators(*json);
    status = 0;
  });
}
