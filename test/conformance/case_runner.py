# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs one case: compile, then run on each data set. The verdict follows from the exit codes."""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import huggingface
import random_outputs

PASSED, FAILED, UNSUPPORTED, CRASHED = "passed", "failed", "unsupported", "crashed"

# The exit codes of tenon and tenon-run that say more than that it did not work.
EXIT_UNSUPPORTED, EXIT_MISMATCH, EXIT_FAULT = 3, 5, 70


@dataclasses.dataclass
class Result:
    verdict: str
    reason: str = ""
    seconds: float = 0.0


class Tools:
    def __init__(self, build, limit, compile_options=(), run_options=()):
        self.compiler, self.runner = build / "bin" / "tenon", build / "bin" / "tenon-run"
        self.limit = limit
        self.compile_options, self.run_options = list(compile_options), list(run_options)

    def missing(self):
        return [tool for tool in (self.compiler, self.runner) if not os.access(tool, os.X_OK)]


def _firstError(text):
    """The line that names the fault, without colours."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    marked = [line for line in lines if "error:" in line]
    return (marked or lines or ["no message"])[0][:300]


def _call(command, cwd, deadline):
    """None where the command succeeded, else the Result that it means."""
    what = pathlib.Path(command[0]).name
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=max(deadline - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Result(FAILED, f"{what}: over the time limit")
    code, text = process.returncode, output.decode("utf-8", "replace")
    if code == 0:
        return None
    if code < 0:
        return Result(CRASHED, f"{what}: {signal.Signals(-code).name}: {_firstError(text)}")
    if code == EXIT_FAULT:
        return Result(CRASHED, f"{what}: {_firstError(text)}")
    if code == EXIT_UNSUPPORTED:
        return Result(UNSUPPORTED, _firstError(text))
    return Result(FAILED, f"{what}: exit code {code}: {_firstError(text)}")


def _runAndJudge(inputs, judge, command, cwd, deadline):
    """Runs on files, by the names of inputs, and lets `judge` look at the folder of outputs."""
    outputs = os.path.join(cwd, "outputs")
    os.makedirs(outputs, exist_ok=True)
    for name, path in inputs.items():
        command += ["--input", f"{name}={path}"]
    result = _call(command + ["--output-dir", outputs], cwd, deadline)
    if result:
        return result
    complaint = judge(pathlib.Path(outputs))
    return Result(FAILED, complaint) if complaint else None


def _runDataSet(case, data_set, command, cwd, deadline):
    if isinstance(data_set, huggingface.DataSet):
        judge = lambda outputs: data_set.judge(case, outputs)
        return _runAndJudge(data_set.writeInputs(cwd), judge, command, cwd, deadline)
    if case.model and not all((data_set / f"output_{number}.pb").is_file() for number in range(len(case.model.outputs))):
        return Result(FAILED, f"{data_set.name} does not say what each output has to be")
    if random_outputs.isRandom(case):
        inputs = {info.name: data_set / f"input_{number}.pb" for number, info in enumerate(case.model.inputs)}
        judge = random_outputs.Judge(case, data_set)
        for seed in judge.seeds:
            seeded = [*command, "--seed", str(seed)]
            result = _runAndJudge(inputs, judge.look, seeded, cwd, deadline)
            if result:
                return result
        complaint = judge.conclude()
        return Result(FAILED, complaint) if complaint else None
    command += ["--test-data", str(data_set), "--rtol", repr(case.rtol), "--atol", repr(case.atol)]
    return _call(command, cwd, deadline)


def runCase(case, tools, keep=None):
    """The verdict on `case`. With `keep`, a folder, what a case that does not pass wrote is left there."""
    begin = time.monotonic()
    deadline = begin + tools.limit
    cwd = tempfile.mkdtemp(prefix="tenon-case-")
    artifact = os.path.join(cwd, "model.tenon")
    try:
        tolerance = ["--tolerance", case.tolerance] if case.tolerance else []
        result = _call([str(tools.compiler), "compile", str(case.path), "-o", artifact, *tolerance, *tools.compile_options], cwd, deadline)
        for data_set in case.data_sets:
            if result:
                break
            result = _runDataSet(case, data_set, [str(tools.runner), artifact, *tools.run_options], cwd, deadline)
            if result and len(case.data_sets) > 1:
                result.reason = f"{data_set.name}: {result.reason}"
        result = result or Result(PASSED)
        result.seconds = time.monotonic() - begin
        if keep and result.verdict != PASSED:
            shutil.copytree(cwd, keep / case.name, dirs_exist_ok=True)
        return result
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
