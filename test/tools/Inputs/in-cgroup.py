# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command in a control group of its own that may have so much memory, files that are cached included.

    in-cgroup.py BYTES COMMAND...
    in-cgroup.py --try

Ends as the command does. With --try it says "possible" where this machine lets one make such a group, and why not where it does not.
"""
import os
import subprocess
import sys


def openGroup(limit):
    """A new group with the limit, and the file that takes processes in. Raises OSError."""
    name = f"tenon-test-{os.getpid()}"
    with open("/proc/self/cgroup") as own:
        groups = {kind: path for _, kind, path in (line.rstrip("\n").split(":", 2) for line in own)}
    controllers = [kind for kind in groups if "memory" in kind.split(",")]
    if controllers:
        folder = f"/sys/fs/cgroup/memory/{name}"
        file = "memory.limit_in_bytes"
    else:
        folder = f"/sys/fs/cgroup{groups.get('', '/')}/{name}"
        file = "memory.max"
    os.mkdir(folder)
    try:
        # Version 2 has the file only where the group above hands the controller on.
        with open(os.path.join(folder, file), "w") as f:
            f.write(str(limit))
    except OSError:
        os.rmdir(folder)
        raise
    return folder


def main():
    try:
        folder = openGroup(1 << 30 if sys.argv[1] == "--try" else int(sys.argv[1]))
    except OSError as error:
        print(f"no control group can be made: {error}")
        return 0 if sys.argv[1] == "--try" else 77
    if sys.argv[1] == "--try":
        os.rmdir(folder)
        print("possible")
        return 0

    def enter():
        with open(os.path.join(folder, "cgroup.procs"), "w") as f:
            f.write(str(os.getpid()))

    try:
        code = subprocess.run(sys.argv[2:], preexec_fn=enter, check=False).returncode
    finally:
        os.rmdir(folder)
    if code < 0:
        print(f"ended by signal {-code}", file=sys.stderr)
    return 128 - code if code < 0 else code


sys.exit(main())
