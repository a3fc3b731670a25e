# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""usage: validate.py SPIRV-VAL FOLDER: validates every .spv file of a folder, for the oldest Vulkan and the newest."""

import pathlib
import subprocess
import sys

validator, folder = sys.argv[1], pathlib.Path(sys.argv[2])
modules = sorted(folder.glob("*.spv"))
for module in modules:
    for environment in ("vulkan1.1", "vulkan1.3"):
        subprocess.run([validator, "--target-env", environment, module], check=True)
print(len(modules), "modules are valid")
