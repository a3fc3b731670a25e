# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Rules that programs of others check: clang-format, shellcheck, pyflakes."""

import concurrent.futures
import os
import re
import shutil
import subprocess

from linter.tree import CPP_SUFFIXES, Finding, interpreter

FORMATTER = "clang-format-22"


class MissingProgram(Exception):
    """A program that tools/setup installs is not there."""


def find_program(name):
    path = shutil.which(name)
    if not path:
        raise MissingProgram(f"{name} was not found: run tools/setup")
    return path


def run_batches(command, root, paths, batch=40):
    """What the command prints on the files, a few at a time on all cores."""

    def run(part):
        done = subprocess.run(command + part, cwd=root, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    parts = [paths[i : i + batch] for i in range(0, len(paths), batch)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return "".join(pool.map(run, parts))


def check_format(tree):
    """C and C++ are formatted as .clang-format says."""
    command = [find_program(FORMATTER), "--style=file", "--dry-run"]
    output = run_batches(command, tree.root, tree.with_suffix(*CPP_SUFFIXES))
    seen = {}
    for match in re.finditer(r"^(.+?):(\d+):\d+: (warning|error): (.*)$", output, re.MULTILINE):
        path, line, level, message = match.groups()
        if level == "error" or path not in seen:
            seen[path] = Finding(path, int(line), "is not formatted" if level == "warning" else message, "fix")
    return list(seen.values())


def fix_format(tree):
    paths = tree.with_suffix(*CPP_SUFFIXES)
    run_batches([find_program(FORMATTER), "--style=file", "-i"], tree.root, paths)
    for path in paths:
        tree.reload(path)


def check_shell(tree):
    """Shell scripts pass shellcheck."""
    program = find_program("shellcheck")
    scripts = [path for path in tree.paths if path.endswith(".sh") or interpreter(tree.text(path)) in ("bash", "sh")]
    command = [program, "--severity=warning", "--shell=bash", "--external-sources", "--source-path=SCRIPTDIR", "--format=gcc"]
    output = run_batches(command, tree.root, scripts)
    for match in re.finditer(r"^(.+?):(\d+):\d+: \w+: (.*)$", output, re.MULTILINE):
        yield Finding(match[1], int(match[2]), match[3])


def check_python(tree):
    """Python scripts compile, and use what they import and set."""
    program = find_program("pyflakes3")
    scripts = [path for path in tree.paths if path.endswith(".py") or interpreter(tree.text(path)).startswith("python")]
    # lit defines these names before it reads the file.
    scripts = [path for path in scripts if os.path.basename(path) not in ("lit.cfg.py", "lit.local.cfg")]
    output = run_batches([program], tree.root, scripts)
    for match in re.finditer(r"^(.+?):(\d+):(?:\d+:)? (.*)$", output, re.MULTILINE):
        yield Finding(match[1], int(match[2]), match[3])
