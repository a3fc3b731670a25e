# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The files that are checked, and what a rule reports."""

import dataclasses
import pathlib
import re
import subprocess

CPP_SUFFIXES = (".c", ".cpp", ".h")


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """One line of output. `mend` is None where only a person can mend it."""

    path: str
    line: int
    message: str
    mend: str | None = None

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Tree:
    """The text files of a checkout: those that git knows, and new ones that it does not ignore."""

    def __init__(self, root, files=()):
        self.root = pathlib.Path(root).resolve()
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=self.root, check=True, capture_output=True).stdout.decode()
        paths = sorted(path for path in set(listed.split("\0")) if path and (self.root / path).is_file())
        self._texts = {}
        self.binary = set()
        for path in paths:
            try:
                text = (self.root / path).read_bytes()
                if b"\0" in text[:8192]:
                    raise ValueError
                self._texts[path] = text.decode("utf-8")
            except ValueError:
                self.binary.add(path)
        # What rules about single files look at. The text files of models and of fuzzing corpora are data.
        self.all = list(self._texts)
        self.wanted = set(self.all)
        if files:
            self.wanted = set().union(*(self._find(self._relative(file), paths) for file in files))
        self.paths = [path for path in self.all if path in self.wanted and not is_data(path)]

    def _relative(self, file):
        path = pathlib.Path(file).resolve()
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(file)

    def _find(self, name, paths):
        """A file, or the files of a folder."""
        found = {path for path in paths if path == name or path.startswith(name + "/") or name == "."}
        if not found:
            raise FileNotFoundError(f"{name} is not a file of this checkout")
        return found

    def text(self, path):
        return self._texts[path]

    def lines(self, path):
        """Pairs of a line's number and its text."""
        return enumerate(self._texts[path].split("\n"), 1)

    def write(self, path, text):
        (self.root / path).write_text(text, encoding="utf-8")
        self._texts[path] = text

    def reload(self, path):
        self._texts[path] = (self.root / path).read_text(encoding="utf-8")

    def exists(self, path):
        return (self.root / path).exists()

    def with_suffix(self, *suffixes):
        return [path for path in self.paths if path.endswith(suffixes)]


def is_data(path):
    return path.startswith("test/fuzz/corpus/") or path.endswith((".ll", ".npy", ".pb", ".onnx", ".tenon"))


def interpreter(text):
    """The name of the program that runs a script: "bash" for `#!/usr/bin/env bash`, "" for what is no script."""
    match = re.match(r"#!\s*(?:/usr/bin/env\s+)?(?:\S*/)?(\w+)", text)
    return match.group(1) if match else ""
