# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Copies a library that tenon loads to a folder, as a build of its own: change-build-id.py NAME FOLDER"""

import pathlib
import re
import shutil
import subprocess
import sys

name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
loaded = subprocess.run(["ldd", shutil.which("tenon")], capture_output=True, text=True, check=True).stdout
file = pathlib.Path(re.search(rf"{re.escape(name)}\S* => (\S+)", loaded)[1])
content = bytearray(file.read_bytes())
# An ELF note of GNU's, of type 3; what follows is the build id.
note = content.find(b"\x14\0\0\0\x03\0\0\0GNU\0")
if note < 0:
    sys.exit(f"{file} has no build id")
content[note + 12] ^= 1
folder.mkdir(exist_ok=True)
(folder / file.name).write_bytes(content)
