# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes the node cases of the newest ONNX release, whose wheel no longer has them on disk.

Imported, it prepares the folder; run in an environment that has that release, it writes the cases: newest_data.py FOLDER.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).with_name("newest-python.txt")
SET = "newest"


def prepare(deps):
    """The folder that holds the set; made on first use."""
    folder = deps / "onnx-cases-newest"
    stamp = folder / ".stamp"
    wanted = REQUIREMENTS.read_text() + pathlib.Path(__file__).read_text()
    if stamp.is_file() and stamp.read_text() == wanted:
        return folder
    print("writing the node cases of the newest ONNX release", file=sys.stderr)
    work = deps / f"onnx-cases-newest.{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    try:
        venv = work / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        pip = [str(venv / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
        made = work / "made"
        subprocess.run([str(venv / "bin/python"), __file__, str(made / SET)], check=True)
        (made / ".stamp").write_text(wanted)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def _toProto(value, info):
    """A value as the message that a file of an input or output of this type holds."""
    from onnx import TensorProto, numpy_helper

    if isinstance(value, TensorProto):
        return value
    if info.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, info.name)
    if info.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, info.name)
    return numpy_helper.from_array(value, info.name)


def _write(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for i, value in enumerate(values):
                (data / f"{kind}_{i}.pb").write_bytes(_toProto(value, infos[i]).SerializeToString())


def main():
    from onnx.backend.test.loader import load_node_model_tests

    folder = pathlib.Path(sys.argv[1])
    for case in load_node_model_tests():
        _write(case, folder / case.name)


if __name__ == "__main__":
    main()
