#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Random cases of operators, from a seed, against ONNX's reference evaluator, with one thread and with three.

Families with composite operations run a second time, decomposed.

    run.py FAMILY [--seed N] [--cases M] [--only NUMBER] [--keep FOLDER] [--target NAME] [--arm-runner "COMMAND WORDS"] [--verbose]

build/bin has to be on the PATH. TENON_CASES=K in the environment draws K times as many cases. Cases of a batch share a model; one that does not compile or run is split until the case is found.
The exit code is 0 where no case fails; one that the compiler says it does not support does not fail.
"""

import argparse
import collections
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import cases
import compare
import onnx
from programs import EXIT_UNSUPPORTED, GUARD_PAGES, call, compileModel

PASSED, FAILED, UNSUPPORTED, UNJUDGED = "passed", "failed", "unsupported", "unjudged"
THREADS = (1, 3)
GUARDED = "guarded"
DECOMPOSE = "tenon-infer-shapes,tenon-decompose{all=true}"


OFFSET_SAMPLES = 1000


def firstError(text):
    return next((line for line in text.splitlines() if "error:" in line), text.splitlines()[0] if text else "no message")[:300]


class Batch:
    """Cases of one opset, as one model."""

    def __init__(self, members, folder):
        self.members, self.folder = members, folder
        self.model, self.artifact = folder / "model.onnx", folder / "model.tenon"
        folder.mkdir(parents=True, exist_ok=True)
        # Each way to run a take: its name, the artifact and options.
        self.ways = [(f"threads-{threads}", self.artifact, ["--threads", threads]) for threads in THREADS]
        self.sizes = {symbol: size for case in members for symbol, size in case.takes[0].getSizes()}
        if self.sizes:
            self.ways.append(("general", self.artifact, ["--threads", THREADS[0], "--program", "general"]))
        for target in members[0].targets:
            self.ways.append((target, self.artifact, ["--threads", THREADS[-1], "--target", target]))
        if members[0].isGuarded:
            self.ways.append((GUARDED, self.artifact, ["--threads", THREADS[0]]))
        if members[0].hasComposites:
            self.ways.append(("decomposed", folder / "decomposed.tenon", ["--threads", THREADS[0]]))

    def compile(self):
        """The sizes of the first take have a program of their own, in which they are constants."""
        onnx.save(cases.joinModel([case.takes[0] for case in self.members], self.members[0].opset), self.model)
        profile = ";".join(f"{symbol}={size}" for symbol, size in self.sizes.items())
        options = ["--specialize", profile] if profile else []
        options += self.members[0].options
        options += [option for target in ("host", *self.members[0].targets) for option in ("--target", target)]
        code, text = compileModel(self.model, "-o", self.artifact, *options)
        if code == 0 and self.members[0].isGuarded:
            code, text = call("tenon-offsets-test", self.model, OFFSET_SAMPLES)
        return self._compileDecomposed() if code == 0 and self.members[0].hasComposites else (code, text)

    def _compileDecomposed(self):
        imported, apart = self.folder / "imported.mlir", self.folder / "decomposed.mlir"
        with open(imported, "w") as file:
            subprocess.run(["tenon-import-test", self.model], stdout=file, check=True)
        code, text = call("tenon-opt", imported, f"-pass-pipeline=builtin.module(func.func({DECOMPOSE}))", "-o", apart)
        return compileModel(apart, "-o", self.ways[-1][1]) if code == 0 else (code, text)

    def run(self, take):
        """A case without this take is run on its first one."""
        arguments = []
        for case in self.members:
            for name, values in case.takes[min(take, len(case.takes) - 1)].inputs.items():
                path = self.folder / f"take-{take}-{name}.pb"
                path.write_bytes(onnx.numpy_helper.from_array(values, name).SerializeToString())
                arguments += ["--input", f"{name}={path}"]
        for way, artifact, options in self.ways:
            # Tile registers are computed, and so are processors of another architecture.
            program = ["tenon-run-tiles" if "+amx" in way else "tenon-run"] if not way.startswith("aarch64") else cases.armRunner
            outputs = self.folder / f"take-{take}-{way}"
            outputs.mkdir(exist_ok=True)
            code, text = call(*program, artifact, *options, "--output-dir", outputs, *arguments, environment=GUARD_PAGES if way == GUARDED else None)
            if code:
                return code, text
        return 0, ""

    def judge(self, case, take):
        """What is wrong with one take of a case; None where nothing is."""
        draw = case.takes[take]
        for name, dtype in draw.outputs:
            paths = [self.folder / f"take-{take}-{way}" / f"{name}.npy" for way, _, _ in self.ways]
            for path in paths:
                fault = compare.complain(compare.readNpy(path, dtype), case.wanted[take][name], draw)
                if fault:
                    return f"{path.parent.name}: output {name} {fault}"
            if not filecmp.cmp(paths[0], paths[1], shallow=False):
                return f"take-{take}: output {name} depends on the number of threads"
            if case.isGuarded and not filecmp.cmp(paths[0], self.folder / f"take-{take}-{GUARDED}" / f"{name}.npy", shallow=False):
                return f"take-{take}: output {name} depends on where buffers lie"
        return None


def runBatch(members, folder):
    """Verdict and reason by the name of the case."""
    batch = Batch(members, folder)
    code, text = batch.compile()
    if code == EXIT_UNSUPPORTED:
        return dropUnsupported(members, folder, text)
    for take in range(max(len(case.takes) for case in members)):
        if code == 0:
            code, text = batch.run(take)
    if code:
        return split(members, folder, f"exit code {code}: {firstError(text)}")
    verdicts = {}
    for case in members:
        faults = [fault for take in range(len(case.takes)) if (fault := batch.judge(case, take))]
        verdicts[case.name] = (FAILED, faults[0]) if faults else (PASSED, "")
    return verdicts


def dropUnsupported(members, folder, text):
    """One compilation names all the nodes that it does not support."""
    reasons = {}
    for line in text.splitlines():
        for name in re.findall(r"'([a-z]+-\d+)'", line):
            reasons.setdefault(name, (UNSUPPORTED, line.strip()[:300]))
    named = [case for case in members if case.name in reasons]
    if not named:
        return {members[0].name: (UNSUPPORTED, firstError(text))} if len(members) == 1 else halve(members, folder)
    rest = [case for case in members if case.name not in reasons]
    verdicts = {case.name: reasons[case.name] for case in named}
    return verdicts | (runBatch(rest, folder / "rest") if rest else {})


def split(members, folder, fault):
    return {members[0].name: (FAILED, fault)} if len(members) == 1 else halve(members, folder)


def halve(members, folder):
    middle = len(members) // 2
    return runBatch(members[:middle], folder / "a") | runBatch(members[middle:], folder / "b")


def runAll(found, folder):
    verdicts = {case.name: (UNJUDGED, case.complaint) for case in found if not case.evaluate()}
    batches = collections.defaultdict(list)
    for case in found:
        if case.wanted is not None:
            batches[case.number // cases.BATCH].append(case)
    for number, members in batches.items():
        verdicts |= runBatch(members, folder / str(number))
    return verdicts


def report(found, verdicts, options):
    for case in found:
        verdict, reason = verdicts[case.name]
        if verdict == FAILED or options.verbose and verdict != PASSED:
            print(f"{case.name}: {verdict}: {case.describe()}\n  {reason}")
            print(f"  alone: test/property/run.py {options.family} --seed {options.seed} --only {case.number} --keep FOLDER")
    counts = collections.Counter(verdict for verdict, _ in verdicts.values())
    takes = sum(len(case.takes) for case in found if verdicts[case.name][0] == PASSED)
    line = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (PASSED, FAILED, UNSUPPORTED, UNJUDGED))
    print(f"{options.family}: seed {options.seed}: {line}; {takes} runs right")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one case")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave models, inputs and outputs there")
    parser.add_argument("--target", action="append", default=[], metavar="NAME", help="compile and run for this one, too")
    parser.add_argument("--arm-runner", default="", metavar="COMMAND", help="what runs artifacts for 64-bit Arm here")
    parser.add_argument("--verbose", action="store_true", help="show also what is unsupported and what the reference cannot tell")
    options = parser.parse_args()
    if not shutil.which("tenon"):
        sys.exit("error: no tenon on the PATH: add build/bin")
    cases.targets, cases.armRunner = options.target, options.arm_runner.split()
    numbers = range(options.cases * int(os.environ.get("TENON_CASES", "1"))) if options.only is None else [options.only]
    found = [cases.Case(options.seed, options.family, number) for number in numbers]
    with tempfile.TemporaryDirectory() as temporary:
        verdicts = runAll(found, options.keep or pathlib.Path(temporary))
    counts = report(found, verdicts, options)
    return 1 if counts[FAILED] or not counts[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main())
