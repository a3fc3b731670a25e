//===- CompletionCommand.cpp - tenon completion -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

namespace {
/// A command with its options, as declared for the command line.
struct Command {
  struct Option {
    std::string name, description;
  };
  std::string name, description;
  std::vector<Option> options;
  std::vector<Command> subcommands;

  std::string listOptions() const {
    return llvm::join(llvm::map_range(options, [](const Option &option) { return option.name; }), " ");
  }
};
} // namespace

static std::vector<Command> listCommands(const CLI::App &app) {
  std::vector<Command> commands;
  for (const CLI::App *sub : app.get_subcommands([](const CLI::App *) { return true; })) {
    Command command{sub->get_name(), sub->get_description(), {}, listCommands(*sub)};
    for (const CLI::Option *option : sub->get_options())
      for (const std::string &name : option->get_lnames())
        command.options.push_back({"--" + name, option->get_description()});
    commands.push_back(std::move(command));
  }
  return commands;
}

static std::string listNames(llvm::ArrayRef<Command> commands) {
  return llvm::join(llvm::map_range(commands, [](const Command &command) { return command.name; }), " ");
}

static void printBash(llvm::ArrayRef<Command> commands) {
  llvm::outs() << "_tenon() {\n"
                  "  local current=\"${COMP_WORDS[COMP_CWORD]}\" options=\"\"\n"
                  "  if ((COMP_CWORD == 1)); then\n"
               << "    COMPREPLY=($(compgen -W \"" << listNames(commands) << "\" -- \"$current\"))\n"
               << "    return\n"
                  "  fi\n"
                  "  case \"${COMP_WORDS[1]}\" in\n";
  for (const Command &command : commands) {
    llvm::outs() << "    " << command.name << ") options=\"" << command.listOptions() << '"';
    if (command.subcommands.empty()) {
      llvm::outs() << " ;;\n";
      continue;
    }
    llvm::outs() << "\n"
                    "      if ((COMP_CWORD == 2)); then\n"
                 << "        COMPREPLY=($(compgen -W \"" << listNames(command.subcommands) << "\" -- \"$current\"))\n"
                 << "        return\n"
                    "      fi\n"
                    "      case \"${COMP_WORDS[2]}\" in\n";
    for (const Command &sub : command.subcommands)
      llvm::outs() << "        " << sub.name << ") options=\"" << sub.listOptions() << "\" ;;\n";
    llvm::outs() << "      esac ;;\n";
  }
  llvm::outs() << "  esac\n"
                  "  if [[ \"$current\" == -* ]]; then\n"
                  "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
                  "  else\n"
                  "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
                  "  fi\n"
                  "}\n"
                  "complete -o filenames -F _tenon tenon\n";
}

static void printZsh(llvm::ArrayRef<Command> commands) {
  llvm::outs() << "#compdef tenon\n"
                  "_tenon() {\n"
                  "  if ((CURRENT == 2)); then\n"
               << "    compadd " << listNames(commands) << "\n"
               << "    return\n"
                  "  fi\n"
                  "  local command=\"$words[2]\"\n"
                  "  case \"$command\" in\n";
  for (const Command &command : commands)
    if (!command.subcommands.empty())
      llvm::outs() << "    " << command.name << ") if ((CURRENT == 3)); then compadd " << listNames(command.subcommands)
                   << "; return; fi; "
                   << "command=\"$command $words[3]\" ;;\n";
  llvm::outs() << "  esac\n"
                  "  if [[ \"$PREFIX\" == -* ]]; then\n"
                  "    case \"$command\" in\n";
  for (const Command &command : commands) {
    llvm::outs() << "      " << command.name << ") compadd -- " << command.listOptions() << " ;;\n";
    for (const Command &sub : command.subcommands)
      llvm::outs() << "      \"" << command.name << ' ' << sub.name << "\") compadd -- " << sub.listOptions()
                   << " ;;\n";
  }
  llvm::outs() << "    esac\n"
                  "  else\n"
                  "    _files\n"
                  "  fi\n"
                  "}\n"
                  "compdef _tenon tenon\n";
}

/// Text between single quotes of fish.
static std::string quote(llvm::StringRef text) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "'";
}

static void printFishOptions(const Command &command) {
  for (const Command::Option &option : command.options)
    llvm::outs() << "complete -c tenon -n '__fish_seen_subcommand_from " << command.name << "' -l "
                 << llvm::StringRef(option.name).drop_front(2) << " -d " << quote(option.description) << "\n";
}

static void printFish(llvm::ArrayRef<Command> commands) {
  for (const Command &command : commands) {
    llvm::outs() << "complete -c tenon -n __fish_use_subcommand -f -a " << command.name << " -d "
                 << quote(command.description) << "\n";
    printFishOptions(command);
    for (const Command &sub : command.subcommands) {
      llvm::outs() << "complete -c tenon -n '__fish_seen_subcommand_from " << command.name << "' -f -a " << sub.name
                   << " -d " << quote(sub.description) << "\n";
      printFishOptions(sub);
    }
  }
}

void tenon::addCompletionCommand(CLI::App &app, int &status) {
  auto shell = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand("completion", "print a script that completes commands and options in a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  addExamples(*command, {"tenon completion bash > ~/.local/share/bash-completion/completions/tenon",
                         "tenon completion fish > ~/.config/fish/completions/tenon.fish"});
  command->callback([&app, shell, &status] {
    std::vector<Command> commands = listCommands(app);
    status = 0;
    if (*shell == "bash")
      return printBash(commands);
    if (*shell == "zsh")
      return printZsh(commands);
    if (*shell == "fish")
      return printFish(commands);
    errors() << "tenon: error: completion: expected bash, zsh or fish, got '" << *shell << "'\n";
    status = 2;
  });
}
