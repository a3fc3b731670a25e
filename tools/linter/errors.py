# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The rule about errors: a function returns its error, with the category that the exit code follows."""

import re

from linter.tree import Finding

# The end of the parameter is part of it: locals that refer to a text are no concern of callers.
PARAMETER = re.compile(r"(?<!const )\bstd::string ?[&*] ?(error|errors|fault|reason|why)(?: = nullptr)?[,)]")
# The runtime, and what is built like it, has status codes.
CHECKED = ("compiler/", "dialects/", "passes/", "tools/")


def check_errors(tree):
    """Functions return llvm::Error or llvm::Expected; no parameter receives the text of an error."""
    for path in tree.with_suffix(".cpp", ".h"):
        if not path.startswith(CHECKED):
            continue
        for number, line in tree.lines(path):
            parameter = PARAMETER.search(line)
            if parameter:
                yield Finding(
                    path,
                    number,
                    f"a parameter '{parameter.group(1)}' receives the text of an error: return llvm::Error or llvm::Expected "
                    "(compiler/errors/CompileError.h, or llvm::createStringError in dialects and passes)",
                )
