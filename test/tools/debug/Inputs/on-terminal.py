# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs a command whose standard error is a terminal, and prints what it writes there: on-terminal.py COMMAND..."""

import os
import pty
import subprocess
import sys

master, terminal = pty.openpty()
command = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=terminal)
os.close(terminal)
written = b""
try:
    while block := os.read(master, 4096):
        written += block
except OSError:
    pass  # the end of a terminal
print(ascii(written.decode()))
sys.exit(command.wait())
