# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes the node cases of the newest ONNX release, whose wheel no longer has them on disk.

Imported, it prepares the folder; run in an environment that has that release, it writes the cases: newest_data.py FOLDER OLDER.
Cases that the set OLDER has as well, of the same operators, the same graph and the same data, are noted as repeated there.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).with_name("newest-python.txt")
SET = "newest"
# Those of its cases that the older set does not have.
CHANGED = "newest-changed"
REPEATED = "repeated.txt"


def readRepeated(folder):
    return set((folder / REPEATED).read_text().split())


def prepare(deps, older):
    """The folder that holds the set; made on first use. `older` is the folder of cases that it is compared with."""
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
        subprocess.run([str(venv / "bin/python"), __file__, str(made / SET), str(older)], check=True)
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


def _essence(folder):
    """What a case tests: its graph, which version of each operator it uses, and its data."""
    import onnx

    model = onnx.load(folder / "model.onnx")
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    version = lambda node: onnx.defs.get_schema(node.op_type, opsets[node.domain], node.domain).since_version
    versions = [version(node) for node in model.graph.node]
    data = [path.read_bytes() for path in sorted(folder.glob("test_data_set_*/*.pb"))]
    functions = [function.SerializeToString(deterministic=True) for function in model.functions]
    return model.graph.SerializeToString(deterministic=True), versions, functions, data


def _isRepeated(name, folder, older):
    if not (older / name).is_dir():
        return False
    try:
        return _essence(folder / name) == _essence(older / name)
    except Exception:  # An operator of a domain that this release lacks, for instance: then it is run.
        return False


def main():
    from onnx.backend.test.loader import load_node_model_tests

    folder, older = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names = []
    for case in load_node_model_tests():
        _write(case, folder / case.name)
        names.append(case.name)
    repeated = sorted(name for name in names if _isRepeated(name, folder, older))
    (folder.parent / REPEATED).write_text("".join(name + "\n" for name in repeated))


if __name__ == "__main__":
    main()
