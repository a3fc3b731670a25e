# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs a command on a pseudo-terminal of 80 columns and prints what the terminal receives, control characters escaped."""

import os
import pty
import struct
import sys
import fcntl
import termios

child, master = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
received = b""
while True:
    try:
        block = os.read(master, 4096)
    except OSError:  # what Linux reports when the other end is closed
        break
    if not block:
        break
    received += block
print(received.decode("utf-8", "replace").replace("\r\n", "\n").replace("\x1b", "ESC").replace("\r", "CR"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
