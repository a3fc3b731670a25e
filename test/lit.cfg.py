# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The lit suite. Tests lie in folders that mirror the source tree; each sees the built tools on its PATH.

import os
import shutil

import lit.formats

config.name = "tenon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
# These hold tests of other kinds, or what tests read.
config.excludes = ["Inputs", "unit", "conformance", "bench", "artifacts", "lib"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tenon_binary_dir, "test")

bin_dir = os.path.join(config.tenon_binary_dir, "bin")
config.environment["PATH"] = os.pathsep.join([bin_dir, config.llvm_tools_dir, config.environment["PATH"]])
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%models", os.path.join(config.tenon_source_dir, "models")))
config.substitutions.append(("%build", config.tenon_binary_dir))
config.substitutions.append(("%source", config.tenon_source_dir))
config.substitutions.append(("%mlir_include", config.mlir_include_dir))

# REQUIRES: host-x86_64, tool-tenon-opt...
config.available_features.add("host-" + config.host)
for tool in ("tenon", "tenon-run", "tenon-opt"):
    if os.path.exists(os.path.join(bin_dir, tool)):
        config.available_features.add("tool-" + tool)

# The assemblers and validators of what GPU backends write: REQUIRES: ptxas, spirv-val.
toolkit = next((root for root in map(os.environ.get, ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")) if root), "/usr/local/cuda")
tool_path = os.pathsep.join([config.environment["PATH"], os.path.join(toolkit, "bin")])
for tool in ("ptxas", "spirv-val"):
    found = shutil.which(tool, path=tool_path)
    if found:
        config.available_features.add(tool)
        config.substitutions.append(("%" + tool, found))
    else:
        lit_config.note(tool + " was not found: tests that need it are skipped")
for variable in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
