//===- Usage.cpp - wrong command lines, and what was meant ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <CLI/CLI.hpp>

using namespace tenon;

std::string tenon::suggest(llvm::StringRef word, llvm::ArrayRef<std::string> names) {
  const std::string *nearest = nullptr;
  unsigned least = word.size() / 3 + 1;
  for (const std::string &name : names)
    if (unsigned edits = word.edit_distance(name, /*AllowReplacements=*/true, least); edits < least) {
      least = edits;
      nearest = &name;
    }
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

namespace {
class HelpLayout : public CLI::Formatter {
public:
  /// Omits the default of a flag with an optional value: "--tune{10}".
  std::string make_option_name(const CLI::Option *option, bool isPositional) const override {
    std::string name = Formatter::make_option_name(option, isPositional);
    return name.substr(0, name.find('{'));
  }

  /// Prints the value's name and its default. Allowed values and conflicting options are only listed in errors.
  std::string make_option_opts(const CLI::Option *option) const override {
    std::string type = option->get_type_name(), standard = option->get_default_str();
    type.resize(std::min(type.size(), type.find(':')));
    // An optional value such as "[=SECONDS]" directly follows the name.
    std::string text = type.empty() || type.front() == '[' ? type : " " + type;
    return text + (standard.empty() ? "" : "=" + standard) + (option->get_required() ? " REQUIRED" : "");
  }

  std::string make_option(const CLI::Option *option, bool isPositional) const override {
    std::string left = "  " + make_option_name(option, isPositional) + make_option_opts(option);
    // Repeatable options are described in words, not by dots.
    if (llvm::StringRef(left).ends_with(" ..."))
      left.resize(left.size() - 4);
    constexpr size_t kColumn = 30, kWidth = 100;
    std::string text = left, line;
    if (left.size() + 2 > kColumn)
      text += "\n" + std::string(kColumn, ' ');
    else
      text.resize(kColumn, ' ');
    llvm::SmallVector<llvm::StringRef> words;
    std::string description = make_option_desc(option);
    llvm::StringRef(description).split(words, ' ');
    for (llvm::StringRef word : words) {
      if (!line.empty() && kColumn + line.size() + 1 + word.size() > kWidth) {
        text += line + "\n" + std::string(kColumn, ' ');
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word.str();
    }
    return text + line + "\n";
  }
};
} // namespace

void tenon::setHelpLayout(CLI::App &app) { app.formatter(std::make_shared<HelpLayout>()); }

void tenon::addExamples(CLI::App &command, llvm::ArrayRef<llvm::StringRef> examples, llvm::StringRef remark) {
  std::string text = examples.empty() ? "" : "Examples:\n";
  for (llvm::StringRef example : examples)
    text += ("  " + example + "\n").str();
  if (!remark.empty())
    text += (text.empty() ? "" : "\n") + remark.str();
  command.footer(text);
}

/// Returns the selected subcommand, or the program itself.
static const CLI::App *getChosen(const CLI::App *app) {
  std::vector<CLI::App *> chosen = app->get_subcommands();
  return chosen.empty() ? app : getChosen(chosen.front());
}

static std::vector<std::string> listOptions(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::string tenon::describeUsage(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &chosen = *getChosen(&app);
  std::string command = chosen.get_name();
  for (const CLI::App *parent = &chosen; parent != &app;) {
    parent = parent->get_parent();
    command = parent->get_name() + " " + command;
  }
  std::string page = "see '" + command + " --help'";
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError *>(&error)) {
    std::vector<std::string> extras = app.remaining(/*recurse=*/true);
    auto option = llvm::find_if(extras, [](const std::string &word) { return word.size() > 1 && word[0] == '-'; });
    if (option != extras.end()) {
      std::string name = llvm::StringRef(*option).split('=').first.str();
      return "unknown option '" + name + "'" + suggest(name, listOptions(chosen)) + "; " + page;
    }
    if (!extras.empty())
      return "unexpected argument '" + extras.front() + "'; " + page;
  }
  return text + "; " + page;
}
