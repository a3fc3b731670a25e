# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Builds a changed copy of the source tree from what an existing build has compiled of the original.

A change of a .td file makes ninja compile everything again that includes the dialect: most of the compiler, for a class that nothing but
two files uses. Here only these objects are compiled, and linked in front of the libraries of the existing build:

- sources that were changed or added;
- sources that include a header or table that was changed by hand;
- sources that hold the definitions of generated files that differ.

A generated header of declarations that only gains lines changes no object of a source that does not use them, so those sources stay as
they are. If it loses lines, the build stops with an error.
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess

# What cmake/TenonFlags.cmake sets, so that ccache works with precompiled headers.
CCACHE = {"CCACHE_DEPEND": "1", "CCACHE_INODECACHE": "1", "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
# The precompiled header of MLIR's headers alone. Those that hold headers of Tenon's would hide what the copy declares.
MLIR_PCH = "/tenon_mlir_pch.dir/cmake_pch.hxx"
PCH = re.compile(r"/(\w+)\.dir/cmake_pch\.hxx")


class BuildError(Exception):
    """A command that failed, with its output."""


def run(command, folder, **options):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, **options)
    if result.returncode:
        raise BuildError(f"{shlex.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def is_subsequence(old, new):
    """Whether the new lines are the old ones with lines added."""
    rest = iter(new)
    return all(line in rest for line in old)


class Overlay:
    """The build folder `build` of a source tree, and a copy of the tree at `copy` that differs in the files `changed`."""

    def __init__(self, build, copy, changed, jobs):
        self.build, self.copy, self.changed, self.jobs = build, copy, set(changed), jobs
        self.output = os.path.join(copy, "build")
        self.generated = os.path.join(self.output, "generated")
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            cache = file.read()
        self.source = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE).group(1)
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = {os.path.relpath(entry["file"], self.source): shlex.split(entry["command"]) for entry in json.load(file)}
        self.dependents = self._read_dependents()
        ccache = shutil.which("ccache")
        self.launcher = [ccache] if ccache else []
        self.environment = dict(os.environ, **CCACHE)

    def _relative(self, path):
        """A path of ninja's below the source or the build folder, or None for one that is elsewhere."""
        path = os.path.normpath(os.path.join(self.build, path))
        for root, prefix in ((self.build, "build:"), (self.source, "")):
            if path.startswith(root + "/"):
                return prefix + os.path.relpath(path, root)
        return None

    def _read_dependents(self):
        """The outputs that depend on each file, by ninja's log of dependencies."""
        dependents, output = {}, None
        for line in run(["ninja", "-t", "deps"], self.build).splitlines():
            if line.startswith("    "):
                dependents.setdefault(self._relative(line.strip()), set()).add(output)
            elif ": #deps" in line:
                output = self._relative(line.split(": #deps")[0])
        return dependents

    #===--- Generated files ---===#

    def generate(self):
        """Runs mlir-tblgen for the files that depend on a changed .td file. Returns those that differ, relative to the build folder."""
        tables = {os.path.join(self.source, path) for path in self.changed if path.endswith(".td")}
        different = []
        for output, command in sorted(self._read_tablegen_commands().items()):
            # The list of dependencies does not have the input itself, which the command names.
            with open(os.path.join(self.build, output + ".d"), encoding="utf-8") as file:
                if tables.isdisjoint([*file.read().split(), *command]):
                    continue
            made = os.path.join(self.generated, output)
            os.makedirs(os.path.dirname(made), exist_ok=True)
            words = [self._to_copy(word) for word in command]
            words[words.index("-o") + 1] = made
            run(words, self.build)
            with open(made, encoding="utf-8") as new, open(os.path.join(self.build, output), encoding="utf-8") as old:
                new_text, old_text = new.read(), old.read()
            if new_text == old_text:
                os.remove(made)
                continue
            different.append(output)
            if output.endswith(".h.inc") and not is_subsequence(old_text.splitlines(), new_text.splitlines()):
                raise BuildError(f"{output} loses lines: what includes it would have to be compiled again")
        return different

    def _read_tablegen_commands(self):
        """The commands that run mlir-tblgen, by their output in the build folder."""
        commands = {}
        with open(os.path.join(self.build, "build.ninja"), encoding="utf-8") as file:
            for folder, text in re.findall(r"^  COMMAND = cd (\S+) && (\S*mlir-tblgen .*? -o \S+) ", file.read(), re.MULTILINE):
                words = shlex.split(text)
                commands[os.path.relpath(os.path.join(folder, words[-1]), self.build)] = words
        if not commands:
            raise BuildError(f"{self.build}/build.ninja has no command that runs mlir-tblgen")
        return commands

    def _to_copy(self, word):
        """A word of a command with the copy in place of the source tree, but for the build folder, which may be inside of it."""
        flag, path = ("-I", word[2:]) if word.startswith("-I") else ("", word)
        if not (path + "/").startswith(self.source + "/") or (path + "/").startswith(self.build + "/"):
            return word
        # What the copy does without, such as dependencies in a folder of the tree, stays where it is.
        moved = self.copy + path.removeprefix(self.source)
        return flag + moved if os.path.exists(moved) else word

    #===--- Objects ---===#

    def find_sources(self, different, targets):
        """The sources to compile for the targets: path to the name of the object."""
        needed = set()
        for target in targets:
            needed |= {line for line in run(["ninja", "-t", "inputs", target], self.build).splitlines() if line.endswith(".o")}
        sources = {path: words[words.index("-o") + 1] for path, words in self.commands.items()}
        wanted = set()
        for path in self.changed:
            if not path.endswith(".td"):
                wanted |= {out.removeprefix("build:") for out in self.dependents.get(path, ()) if out}
        for output in different:
            if not output.endswith(".h.inc"):
                wanted |= {out.removeprefix("build:") for out in self.dependents.get("build:" + output, ()) if out}
        found = {path: name for path, name in sources.items() if name in needed and (name in wanted or path in self.changed)}
        # Registration functions are inline in the generated header, and are used in one place.
        if "passes/Passes.h.inc" in different:
            path = "compiler/pipeline/Registration.cpp"
            found[path] = sources[path]
        for path in self.changed - sources.keys():
            if path.endswith(".cpp"):
                found[path] = sources[self._sibling(path)].replace(os.path.basename(self._sibling(path)), os.path.basename(path))
        return found

    def _sibling(self, path):
        """A source of the original tree in the folder of a new one, whose command the new one has."""
        folder = os.path.dirname(path)
        return min(other for other in self.commands if os.path.dirname(other) == folder)

    def compile(self, path, name):
        made = os.path.join(self.output, name)
        os.makedirs(os.path.dirname(made), exist_ok=True)
        original = path if path in self.commands else self._sibling(path)
        words = list(self.commands[original])
        words[words.index("-o") + 1] = made
        words[words.index("-c") + 1] = os.path.join(self.source, path)
        result = []
        for word in self._replace_header(words):
            if word.startswith("-I" + self.build):
                result.append("-I" + self.generated + word.removeprefix("-I" + self.build))
            result.append(self._to_copy(word))
        run(self.launcher + result, self.build, env=self.environment)
        return name

    def _replace_header(self, words):
        """A command with the precompiled header of MLIR's headers, or with none if it has one of its program's own."""
        if not any(PCH.search(word) and "/dialects/precompiled/" not in word for word in words):
            return [PCH.sub(MLIR_PCH, word) for word in words]
        # CMake passes "-Xclang -include-pch -Xclang X.pch -Xclang -include -Xclang X".
        kept = list(words)
        while (place := next((i for i, word in enumerate(kept) if PCH.search(word)), None)) is not None:
            del kept[place - 3 : place + 1]
        return kept

    def compile_all(self, sources):
        # Dialects take longest, and come first.
        ordered = sorted(sources.items(), key=lambda item: (not item[0].startswith("dialects/"), item))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(lambda item: self.compile(*item), ordered))

    #===--- Programs ---===#

    def link(self, target, objects):
        """Links a program of the existing build with the new objects in front of its libraries."""
        line = run(["ninja", "-t", "commands", f"bin/{target}"], self.build).splitlines()[-1]
        words = shlex.split(line.removeprefix(": && ").split(" && ")[0])
        place = words.index("-o") + 1
        words[place] = os.path.join(self.output, "bin", target)
        os.makedirs(os.path.dirname(words[place]), exist_ok=True)
        parts = {os.path.basename(word)[3:-2] for word in words if word.endswith(".a")} | {target}
        owners = {name: re.search(r"CMakeFiles/([^/]+)\.dir/", name).group(1) for name in objects}
        new = [os.path.join(self.output, name) for name in sorted(objects) if owners[name] in parts]
        kept = [word for word in words if word not in objects]
        place = kept.index("-o") + 2
        run(kept[:place] + new + kept[place:], self.build)

    def make(self, targets):
        """Builds the targets. Returns how many sources were compiled."""
        shutil.rmtree(self.generated, ignore_errors=True)
        sources = self.find_sources(self.generate(), targets)
        self.compile_all(sources)
        objects = set(sources.values())
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(lambda target: self.link(target, objects), targets))
        return len(sources)
