//===- Meta.cpp - what the compiler wrote for people -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Meta.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"

using namespace tenon;
using Json = nlohmann::ordered_json;

Json tenon::readMeta(const ArtifactView &view) {
  // Printing goes as deep as the value does, so what nests deeper than any compiler writes is left out.
  auto isShallow = [](int depth, Json::parse_event_t, Json &) { return depth < 16; };
  Json meta = Json::parse(view.getMeta(), isShallow, /*allow_exceptions=*/false);
  return meta.is_discarded() ? Json() : meta;
}

std::string tenon::getMachineText(const ArtifactView &view, const std::string &target) {
  Json meta = readMeta(view);
  // Whatever is missing on the way is null.
  Json machine = meta.is_object() ? meta["targets"] : Json();
  machine = machine.is_object() ? machine[target] : Json();
  std::string text;
  if (!machine.is_object())
    return text;
  for (const auto &figure : machine.items())
    if (figure.value().is_number_unsigned())
      text += (text.empty() ? "" : ", ") + getPrintable(figure.key()) + " " + groupDigits(figure.value());
  return text;
}
