#include "tools/tenon/Commands.h"
#include <CLI/CLI.hpp>
void tenon::addInspectCommand(CLI::App &, int &) {}
