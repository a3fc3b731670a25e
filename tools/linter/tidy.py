# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""clang-tidy over sources of a build: those that differ from a commit, those that are named, or all.

A source that includes MLIR takes 5 to 10 seconds, because clang-tidy looks at the whole precompiled header that its command names; it
would parse the same headers for longer without one. So this is no part of the default run, and CI looks at what does without MLIR."""

import concurrent.futures
import json
import os
import re
import subprocess
import sys

from linter.external import find_program
from linter.tree import Finding

TIDY = "clang-tidy-22"


def list_changed(tree, base):
    """Files that differ from a commit, changes that are not committed included. Without one: from where this branch left main, and in
    main itself from the commit before the last one."""

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=tree.root, capture_output=True, text=True, check=False)
        return done.stdout.split() if done.returncode == 0 else None

    if not base:
        base, *_ = git("merge-base", "HEAD", "main") or [None]
        if not base or [base] == git("rev-parse", "HEAD"):
            base = "HEAD~1"
    changed = git("diff", "--name-only", base)
    if changed is None:
        raise FileNotFoundError(f"no commit {base} to compare with: name one with --base")
    return set(changed + git("ls-files", "--others", "--exclude-standard"))


def list_compiled(tree, build):
    """Pairs of a source's path and whether it is there, of all that the build compiles."""
    database = os.path.join(build, "compile_commands.json")
    if not os.path.exists(database):
        raise FileNotFoundError(f"{database} is missing: configure with cmake --preset release")
    with open(database, encoding="utf-8") as file:
        files = {os.path.relpath(entry["file"], tree.root) for entry in json.load(file)}
    return sorted(path for path in files if path in tree.wanted)


def find_sources(tree, options):
    build = os.path.abspath(options.build or os.path.join(tree.root, "build"))
    compiled = list_compiled(tree, build)
    if options.tidy == "all" or options.files:
        return build, compiled
    changed = list_changed(tree, options.base)
    # A header is seen with the source of its name.
    stems = {os.path.splitext(path)[0] for path in changed if path.endswith(".h")}
    return build, [path for path in compiled if path in changed or os.path.splitext(path)[0] in stems]


def run(tree, options):
    """Prints findings as they come, and returns them."""
    build, sources = find_sources(tree, options)
    command = [find_program(TIDY), "--quiet", "-p", build]

    def tidy(path):
        done = subprocess.run([*command, path], cwd=tree.root, capture_output=True, text=True, check=False)
        return list(parse(tree, done.stdout + done.stderr))

    findings = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, found in enumerate(pool.map(tidy, sources), 1):
            for finding in sorted(set(found) - findings):
                print(finding, flush=True)
            findings.update(found)
            if sys.stderr.isatty():
                print(f"\r{count} of {len(sources)} sources", end="", file=sys.stderr, flush=True)
    print(f"{len(findings)} findings in {len(sources)} sources" + ("" if sources else ": nothing that the build compiles was changed"))
    return sorted(findings)


def parse(tree, output):
    for match in re.finditer(r"^(/.+?|[^/\s].+?):(\d+):\d+: (?:warning|error): (.*)$", output, re.MULTILINE):
        yield Finding(os.path.relpath(os.path.join(tree.root, match[1]), tree.root), int(match[2]), match[3])
