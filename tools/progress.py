#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads ninja's output and prints how far a build is and how long it may still take: on a terminal in one line that changes, elsewhere
a line every 30 s. NINJA_STATUS has to begin with "[%f/%t %e] ". All of the input goes to the file that is the only argument.

The estimate takes the steps that are left to last as long as those done, so it settles after the first minute.
"""

import os
import re
import sys
import time

STATUS = re.compile(r"\[(\d+)/(\d+) ([\d.]+)\] (.*)")
INTERVAL = 30  # seconds between two lines where there is no terminal


def describe(done, total, seconds):
    text = f"{100 * done // total:3} %, {done} of {total} steps after {seconds:.0f} s"
    if done == total:
        return text
    return text + (f", about {seconds * (total - done) / done:.0f} s left" if seconds >= 10 else "")


def main():
    isTerminal = sys.stdout.isatty()
    last = time.monotonic()
    with open(sys.argv[1], "w", encoding="utf-8") as log:
        for line in sys.stdin:
            log.write(line)
            match = STATUS.match(line)
            if not match or int(match[2]) == 0:
                continue
            progress = describe(int(match[1]), int(match[2]), float(match[3]))
            if isTerminal:
                width = os.get_terminal_size(sys.stdout.fileno()).columns - 1
                print("\r\033[K" + f"    {progress}: {match[4]}"[:width], end="", flush=True)
            elif time.monotonic() - last >= INTERVAL:
                last = time.monotonic()
                print(f"    {progress}", flush=True)
    if isTerminal:
        print("\r\033[K", end="", flush=True)


if __name__ == "__main__":
    main()
