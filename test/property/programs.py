# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The programs under test, called from the PATH."""

import os
import subprocess

EXIT_UNSUPPORTED, EXIT_INEXACT = 3, 5
# Buffers lie between pages that cannot be read.
GUARD_PAGES = {"TENON_DEBUG_ARENA": "1"}


def call(*command, environment=None):
    """(exit code, what went to standard error)."""
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", env=os.environ | (environment or {}))
    return result.returncode, result.stderr.strip()


def compileModel(*arguments):
    """Where f32 is too coarse for a model, which may be all that is wrong, it is compiled without a tolerance."""
    code, text = call("tenon", "compile", *arguments)
    return call("tenon", "compile", *arguments, "--no-measure-error") if code == EXIT_INEXACT else (code, text)
