#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Types and inline functions with external linkage that several C++ files define under one name.

    one_definition.py FOLDER...

C++ requires all definitions of such a name in a program to be the same (the one-definition rule), and no tool diagnoses a violation: the
linker keeps one copy of, for instance, `std::optional<tenon::Window>::reset` for both types.
"""

import collections
import pathlib
import re
import sys

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^\s*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
# A namespace, a type, or an inline function that has a body; or any brace, to know how deep we are.
TOKEN = re.compile(
    r"(?:inline\s+)?namespace\s*(?P<space>[\w:]*)\s*\{"
    r"|\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\([^)]*\)\s*)?(?P<type>[\w:]+)(?:<[^;{}()]*>)?\s*(?:final\s*)?(?::(?!:)[^;{}()]*)?\{"
    r"|\binline\s[^;{}()=]*?(?P<function>[\w:]+)\s*(?P<parameters>\((?:[^;{}()]|\([^;{}()]*\))*\))[^;{}()]*\{"
    r"|[{}]"
)


def definitions(path):
    """Names of what the file defines outside of unnamed namespaces, functions and types."""
    scopes = []
    for match in TOKEN.finditer(NOISE.sub(" ", path.read_text())):
        if match[0] == "}":
            if scopes:
                scopes.pop()
            continue
        name = match["type"] or match["function"] and match["function"] + re.sub(r"\s+", " ", match["parameters"])
        if match["space"] is not None:
            scopes.append(match["space"])
            continue
        # An empty name is that of an unnamed namespace, None a function's or a type's body.
        if name and all(scopes):
            yield "::".join([*scopes, name])
        scopes.append(None)


def main(folders):
    places = collections.defaultdict(list)
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".cpp"):
                for name in set(definitions(path)):
                    places[name].append(str(path))
    several = {name: paths for name, paths in places.items() if len(paths) > 1}
    for name, paths in sorted(several.items()):
        print(f"{name} is defined in {' and '.join(paths)}")
    print(f"{len(places)} names, {len(several)} of them defined more than once")
    return 1 if several else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
