# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What the benches of whole models have in common: the models and their sizes, the programs, the table."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "models" / "speed" / "generate"

sys.path.insert(0, str(ROOT / "test" / "conformance"))

import cases
import wire


class Failure(Exception):
    """A program failed; what it said is the message."""


# --- Programs ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Ran:
    output: str
    errors: str
    seconds: float
    cpu: float  # seconds, of its children, too
    peak: int  # bytes


def run(command, environment=None):
    """Runs a program and keeps an eye on its memory, which is its own alone."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output, errors = out.read(), err.read()
        if process.returncode:
            said = [line for line in errors.splitlines() if line.strip()]
            raise Failure(said[0] if said else f"{command[0]} ended with {process.returncode}")
        return Ran(output, errors, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


class Tools:
    def __init__(self, build, before="", hasTiles=False):
        """`before` is put in front of what is timed. With `hasTiles`, tile registers (AMX) are computed where there are none."""
        self.bin, self.before = pathlib.Path(build) / "bin", before.split()
        if not (self.bin / "tenon").exists():
            raise Failure(f"{build}: there is no bin/tenon in it")
        self.runner = self.bin / ("tenon-run-tiles" if hasTiles else "tenon-run")

    def compile(self, model, artifact, options):
        # Its time is measured, and is not that of taking an earlier result.
        environment = {**os.environ, "TENON_CACHE_DIR": "none"}
        return run([*self.before, self.bin / "tenon", "compile", model, "-o", artifact, *options], environment)

    def inspect(self, artifact, options=()):
        return json.loads(run([self.bin / "tenon", "inspect", artifact, "--json", *options]).output)

    def plan(self, artifact, options):
        return json.loads(run([self.runner, artifact, "--plan-only", "--json", *options]).output)

    def benchmark(self, artifact, options):
        return json.loads(run([*self.before, self.runner, artifact, "--benchmark", "--json", *options]).output)

    def limits(self, threads):
        """The limits of this machine, by number of threads."""
        found = json.loads(run([*self.before, self.bin / "machine-limits", threads]).output)
        return {entry["threads"]: entry for entry in found["limits"]}


# --- Models -----------------------------------------------------------------------------------------------------


def sizeOption(option, name, dims):
    return f"--{option}={name}={'x'.join(map(str, dims))}"


@dataclasses.dataclass
class Model:
    name: str
    path: pathlib.Path
    shapes: dict  # of the inputs at the sizes that are measured; empty where nobody says
    gflop: float = None
    read: int = None  # bytes of weights that a run reads
    files: list = dataclasses.field(default_factory=list)  # the inputs' values in order, where they are known

    def fixing(self):
        """Options of `tenon compile` that leave no dimension open."""
        return [sizeOption("shape", name, dims) for name, dims in self.shapes.items() if dims]

    def inputs(self, about):
        """Options of `tenon-run` that give the inputs, or their sizes; `about` is what `tenon inspect` says. Nobody
        says: every open dimension is 1."""
        if self.files:
            names = [entry["name"] for entry in about["inputs"]]
            return [f"--input={name}={file}" for name, file in zip(names, self.files)]
        if self.shapes:
            return [sizeOption("input-shape", name, dims) for name, dims in self.shapes.items() if dims]
        return [f"--size={symbol['name']}=1" for symbol in about["symbols"] if symbol["bound_by"].startswith("input")]


def generatorNames():
    return run([GENERATOR, "--list"]).output.split()


def readModel(path):
    """A model and NAME.json beside it, which has `inputs`, each with `name` and `shape`, `gflop`, and `read_bytes` or
    `weight_bytes`."""
    side = path.with_suffix(".json")
    about = json.loads(side.read_text()) if side.exists() else {}
    shapes = {entry["name"]: entry["shape"] for entry in about.get("inputs", [])}
    return Model(path.stem, path, shapes, about.get("gflop"), about.get("read_bytes", about.get("weight_bytes")))


def generate(name, folder):
    """Written by a process of its own, because a large one takes a few times its size."""
    path = folder / f"{name}.onnx"
    sources = GENERATOR.parent.glob("*")
    if not path.exists() or path.stat().st_mtime < max(source.stat().st_mtime for source in sources if source.is_file()):
        run([GENERATOR, name, "--out", folder])
    return readModel(path)


def _dims(path):
    return [value for field, value in wire.fields(memoryview(path.read_bytes())) if field == 1]


def readCase(folder):
    """A folder as test/conformance has them, with its first set of inputs; None where it is none, or weights are elsewhere."""
    if (folder / "expected.json").exists() and not (folder / "config.json").exists():
        return None
    case = cases.load("models", folder)
    if not case:
        return None
    first = case.data_sets[0]
    if case.model is None:
        shape = (len(first.rows), len(first.rows[0]))
        return Model(folder.name, case.path, {name: shape for name in first.inputs})
    files = sorted(first.glob("input_*.pb"), key=lambda file: int(file.stem.rpartition("_")[2]))
    names = [entry.name for entry in case.model.inputs]
    return Model(folder.name, case.path, {name: _dims(file) for name, file in zip(names, files)}, files=files)


def readFolder(folder):
    """Models that lie in a folder as files, or as folders of test cases."""
    found = [readModel(path) for path in sorted(folder.glob("*.onnx"))]
    found += filter(None, (readCase(path) for path in sorted(folder.iterdir()) if path.is_dir()))
    if not found:
        raise Failure(f"{folder}: there is no model.onnx, nor a folder with one and a test_data_set_0")
    return found


# --- Options and tables -----------------------------------------------------------------------------------------


def addOptions(parser):
    parser.add_argument("names", nargs="*", metavar="MODEL", help="some of the models; all of them where none is named")
    parser.add_argument("--models", type=pathlib.Path, metavar="DIR", help="models of a folder in place of the generated ones: NAME.onnx with "
                        "sizes in NAME.json, or test cases")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR", help="where Tenon was built")
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR", help="where models and artifacts are written (speed in the build folder)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")


def chooseModels(options):
    """Models and where their artifacts go. Each is written just before it is needed, as that may take seconds."""
    folder = options.work or options.build / "speed"
    folder.mkdir(parents=True, exist_ok=True)
    known = {model.name: model for model in readFolder(options.models)} if options.models else dict.fromkeys(generatorNames())
    unknown = [name for name in options.names if name not in known and (options.models or not name.startswith("tiny"))]
    if unknown:
        raise Failure(f"no model '{unknown[0]}'; there are {', '.join(known)}")
    return ((known.get(name) or generate(name, folder), folder / f"{name}.tenon") for name in options.names or known)


def megabytes(count):
    return "-" if count is None else f"{count / 1e6:.2f}"


class Table:
    """Rows that are printed as they come."""

    def __init__(self, *columns):
        self.columns = columns

    def header(self):
        self.row([name for name, _ in self.columns])

    def row(self, cells):
        texts = (f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}" for i, (cell, (_, width)) in enumerate(zip(cells, self.columns)))
        print("".join(texts).rstrip(), flush=True)
