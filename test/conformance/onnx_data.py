# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Fetches ONNX's test cases by hash and lays all sets out alike: SET/CASE/{model.onnx,test_data_set_0/}."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import wire

# The last release whose wheel holds the cases; any platform's wheel has the same.
VERSION = "1.22.0"
SHA256 = "955e02e1f6d385b53d52f9cd7b9cdf5caf417c300bcfe3c64c6d542be763845b"
PLATFORM = ["--platform", "manylinux_2_28_x86_64", "--python-version", "3.12", "--implementation", "cp"]

SETS = ["node", "simple", "pytorch-converted", "pytorch-operator", "light"]
_PREFIX = "onnx/backend/test/data/"


def depsFolder(root):
    return pathlib.Path(os.environ.get("TENON_DEPS") or root / ".deps")


def _download(folder):
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        + ["--only-binary=:all:", *PLATFORM, "-d", str(folder), f"onnx=={VERSION}"],
        check=True,
    )
    (wheel,) = folder.glob("onnx-*.whl")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != SHA256:
        raise RuntimeError(f"{wheel.name}: wanted sha256 {SHA256}, found {found}")
    return wheel


def _makeLightCase(data, case):
    """ONNX's own runner feeds these networks 0/n, 1/n, 2/n...; so does this one."""
    about = json.loads((case / "data.json").read_text())
    source = data / "light" / pathlib.Path(about["url"]).name
    shutil.copy(source, case / "model.onnx")
    folder = case / "test_data_set_0"
    folder.mkdir()
    for number, info in enumerate(wire.Model(source).inputs):
        count = 1
        for dim in info.shape:
            count *= dim or 1
        values = (i / count for i in range(count))
        wire.writeFloatTensor(folder / f"input_{number}.pb", [dim or 1 for dim in info.shape], values)
    shutil.copy(source.with_name(source.stem + "_output_0.pb"), folder / "output_0.pb")
    return case


def prepare(root):
    """The folder that holds the sets; fetched and unpacked on first use."""
    deps = depsFolder(root)
    cases = deps / "onnx-cases"
    stamp = cases / ".stamp"
    if stamp.is_file() and stamp.read_text() == SHA256:
        return cases
    print(f"fetching the test cases of onnx {VERSION}", file=sys.stderr)
    work = deps / f"onnx-cases.{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        with zipfile.ZipFile(_download(work)) as archive:
            archive.extractall(work, [name for name in archive.namelist() if name.startswith(_PREFIX)])
        data = work / _PREFIX
        for case in sorted((data / "real").iterdir()):
            _makeLightCase(data, case)
        shutil.rmtree(data / "light")
        (data / "real").rename(data / "light")
        (data / ".stamp").write_text(SHA256)
        shutil.rmtree(cases, ignore_errors=True)
        data.rename(cases)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return cases
