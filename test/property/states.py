# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Random orders of reads and updates of states, whose rows overlap or do not: each read sees what was there at its place.

    states.py [--seed N] [--count N] [--keep FOLDER]

A program has a state of which all rows count, one that grows, and a ring that forgets rows in the last of its runs.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e")]

from tensors import Tensor, readNpy, writeNpy

RUNS, CAPACITY = 3, 13


class Program:
    """Builds the text of a program, and a list of steps that compute the same in Python.

    Values are lists of rows; `env` maps names to them. Small integers keep sums exact.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows, self.width = self.random.choice([1, 2, 3, 5, 7]), self.random.choice([1, 3, 17])
        self.added, self.initial = self.random.choice([1, 2, 3]), self.random.choice([0, 2])
        self.lines, self.steps, self.values, self.count = [], [], {}, 0
        self.inputs = {f"x{i}": self.random.randint(1, self.rows) for i in range(3)} | {"new": self.added}
        self.values.update(self.inputs)
        for _ in range(self.random.randint(4, 12)):
            self.random.choice([self.read, self.update, self.update, self.compute])()
        self.grow()
        self.outputs = self.random.sample(sorted(self.values), min(4, len(self.values)))

    def type(self, rows):
        return f"tensor<{rows}x{self.width}xf32>"

    def name(self, rows):
        self.count += 1
        self.values[f"v{self.count}"] = rows
        return f"v{self.count}"

    def read(self):
        rows = self.random.randint(1, self.rows)
        name = self.name(rows)
        self.lines.append(f"%{name} = tenon.state.read @s : {self.type(rows)}")
        self.steps.append(lambda env, s: env.__setitem__(name, [list(row) for row in s[:rows]]))

    def update(self):
        source = self.random.choice(sorted(self.values))
        rows = self.values[source]
        if rows > self.rows:
            return
        at = self.random.randint(0, self.rows - rows)
        self.lines.append(f"tenon.state.update @s at #tenon.shape<{at}>, %{source} : {self.type(rows)}")
        self.steps.append(lambda env, s: s.__setitem__(slice(at, at + rows), [list(row) for row in env[source]]))

    def compute(self):
        a = self.random.choice(sorted(self.values))
        rows = self.values[a]
        b = self.random.choice([name for name, other in sorted(self.values.items()) if other == rows])
        name = self.name(rows)
        self.lines.append(f"%{name} = tenon.add %{a}, %{b} : ({self.type(rows)}, {self.type(rows)}) -> {self.type(rows)}")
        self.steps.append(lambda env, s: env.__setitem__(name, [[p + q for p, q in zip(*pair)] for pair in zip(env[a], env[b])]))

    def grow(self):
        """Sums of the past, read before the rest of the program and used after it, and of the past with what is new."""
        past = f"tensor<?x{self.width}xf32, #tenon.shape<n, {self.width}>>"
        both = f"tensor<?x{self.width}xf32, #tenon.shape<n + {self.added}, {self.width}>>"
        total = f"tensor<{self.width}xf32>"
        fresh = self.random.choice([name for name, rows in sorted(self.values.items()) if rows == self.added])
        self.fresh = fresh
        self.lines.insert(0, f"%past = tenon.state.read @g : {past}")
        self.lines += [
            f"tenon.state.update @g at #tenon.shape<n> extends, %{fresh} : {self.type(self.added)}",
            f"%both = tenon.state.read @g : {both}",
            f"%sum_past = tenon.reduce sum, %past {{axes = array<i64: 0>}} : ({past}) -> {total}",
            f"%sum_both = tenon.reduce sum, %both {{axes = array<i64: 0>}} : ({both}) -> {total}",
            f"tenon.state.update @r at #tenon.shape<slot> extends, %{fresh} : {self.type(self.added)}",
            f"%ring = tenon.state.read @r : {both.replace('n +', 'kept +')}",
            f"%sum_ring = tenon.reduce sum, %ring {{axes = array<i64: 0>}} : ({both.replace('n +', 'kept +')}) -> {total}",
        ]

    def text(self):
        named = lambda name, type: f'{type} {{tenon.name = "{name}"}}'
        results = {name: self.type(self.values[name]) for name in self.outputs}
        sums = {name: f"tensor<{self.width}xf32>" for name in ("sum_past", "sum_both", "sum_ring")}
        arguments = ", ".join(f"%{name}: {named(name, self.type(rows))}" for name, rows in self.inputs.items())
        types = ", ".join(named(f"out_{name}", type) for name, type in {**results, **sums}.items())
        body = "\n  ".join(self.lines)
        names = ", ".join(f"%{name}" for name in (*results, *sums))
        return (
            f"tenon.state @s : {self.type(self.rows)} {{initial = dense<{self.initial}.0> : {self.type(self.rows)}}}\n"
            f'tenon.state @r : {self.type(2 * self.added)} live "kept" ring "slot"\n'
            f'tenon.state @g : {self.type(CAPACITY)} live "n"\n'
            f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n  return {names} : {', '.join([*results.values(), *sums.values()])}\n}}\n"
        )

    def run(self, inputs, s, g):
        """What the outputs are; changes the states."""
        env = {name: [list(row) for row in rows] for name, rows in inputs.items()}
        add = lambda rows: [[sum(column) for column in zip(*rows)] if rows else [0] * self.width]
        before = add(g)
        for step in self.steps:
            step(env, s)
        g += [list(row) for row in env[self.fresh]]
        return {**{name: env[name] for name in self.outputs}, "sum_past": before, "sum_both": add(g), "sum_ring": add(g[-2 * self.added :])}


def call(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nexit code {result.returncode}: {result.stdout}{result.stderr}")


def attempt(seed, folder):
    program = Program(seed)
    source, artifact = f"{folder}/{seed}.mlir", f"{folder}/{seed}.tenon"
    with open(source, "w") as file:
        file.write(program.text())
    call("tenon", "compile", source, "--no-measure-error", "-o", artifact)
    values, s, g = random.Random(seed), [[program.initial] * program.width for _ in range(program.rows)], []
    for run in range(RUNS):
        inputs = {name: [[values.randint(-3, 3) for _ in range(program.width)] for _ in range(rows)] for name, rows in program.inputs.items()}
        wanted = program.run(inputs, s, g)
        options = [f"--restore-state={folder}/state"] if run else []
        for name, rows in inputs.items():
            writeNpy(f"{folder}/{name}.npy", Tensor([len(rows), program.width], sum(rows, [])))
            options.append(f"--input={name}={folder}/{name}.npy")
        call("tenon-run", artifact, *options, f"--save-state={folder}/state", f"--output-dir={folder}")
        for name, rows in wanted.items():
            got = readNpy(f"{folder}/out_{name}.npy").data
            if got != sum(rows, []):
                sys.exit(f"seed {seed}, run {run}: {name} is {got}, wanted {sum(rows, [])}\n{program.text()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--keep", metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(options.seed, options.seed + options.count):
            attempt(seed, options.keep or temporary)


main()
