# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Checks that the reference has all of what it is made from: check-reference.py SOURCE REFERENCE.

The names are read here in ways of their own, so that what the generator overlooks is found.
"""

import glob
import os
import re
import sys


def find(pattern, *paths):
    names = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            names += re.findall(pattern, file.read(), re.MULTILINE)
    return names


def list_expected(source):
    """Yields page, the heading that a name has there, and the name."""
    path = lambda *parts: os.path.join(source, *parts)
    families = [path("dialects/tenon", name) for name in os.listdir(path("dialects/tenon")) if name.endswith(".td")]
    for name in find(r'^def Tenon_\w+ : Tenon_(?:Inferred)?Op<"([\w.]+)"', *families):
        yield "tenon.md", f"### `tenon.{name}` (", name
    for name in find(r'Kernel_Op<"(\w+)"', path("dialects/kernel/KernelOps.td")):
        yield "kernel.md", f"### `kernel.{name}` (", name
    for name in find(r'Pass<"([\w-]+)"', *glob.glob(path("passes/**/*.td"), recursive=True)):
        yield "passes.md", f"### `-{name}`", name
    for name in find(r"^TENON_INSTRUCTION\(\d+, (\w+)", path("runtime/format/Instructions.def")):
        yield "instructions.md", f"## `{name}`", name
    for page, header in (("runtime-api.md", "runtime.h"), ("plugin-api.md", "plugin.h")):
        header = path("runtime/include/tenon", header)
        functions = find(r"^[a-z][\w *]*?\b(tenon_\w+)\([^*]", header)
        types = find(r"^typedef (?:struct|enum) (tenon_\w+)", header)
        for name in [*functions, *types]:
            yield page, f"### `{name}`", name
    for name in ("tenon", "tenon compile", "tenon inspect", "tenon run", "tenon-run"):
        yield "options.md", f"## `{name}`", name
    for option in find(r'"(--[a-z][\w-]+)"', path("tools/tenon/CompileOptions.cpp")):
        yield "options.md", option, option


def main():
    source, reference = sys.argv[1:]
    texts, counts, missing = {}, {}, []
    for page, heading, name in list_expected(source):
        if page not in texts:
            with open(os.path.join(reference, page), encoding="utf-8") as file:
                texts[page] = file.read()
        counts[page] = counts.get(page, 0) + 1
        if heading not in texts[page]:
            missing.append(f"{page}: {name} is missing")
    # A pattern that finds nothing checks nothing.
    least = {"tenon.md": 40, "kernel.md": 5, "passes.md": 30, "instructions.md": 13, "runtime-api.md": 30, "plugin-api.md": 5, "options.md": 15}
    for page, count in least.items():
        assert counts.get(page, 0) >= count, f"{page}: only {counts.get(page, 0)} names were found in the sources"
    print("\n".join(missing) or counts, file=sys.stderr if missing else sys.stdout)
    return 1 if missing else 0


sys.exit(main())
