# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Asks zsh or fish what they complete with a script of `tenon completion`: complete.py SHELL SCRIPT. Does nothing without the shell."""

import shutil
import subprocess
import sys

shell, script = sys.argv[1:]
# In zsh, the functions of its completion system are stood in for by some that print what they are given.
ZSH = """
compdef() {{ }}
compadd() {{ print -rl -- "$@" }}
_files() {{ print -r -- FILES }}
source ./{script}
words=({words} '') CURRENT={current} PREFIX={prefix}
_tenon
"""


def complete(words, prefix):
    """The words that may follow `words` and begin with `prefix`, and the shell's own for files."""
    if shell == "fish":
        line = " ".join([*words, prefix])
        command = ["fish", "--no-config", "-c", f"source ./{script}; complete -C '{line}'"]
    else:
        code = ZSH.format(script=script, words=" ".join(words), current=len(words) + 1, prefix=prefix or "''")
        command = ["zsh", "-f", "-c", code]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    if output.stderr:
        sys.exit(f"error: {shell} says {output.stderr}")
    return [line.split("\t")[0] for line in output.stdout.splitlines()]


if not shutil.which(shell):
    print(f"{shell} is not installed: not tried")
    sys.exit(0)
for words, prefix, expected in ((["tenon"], "ins", "inspect"), (["tenon", "compile"], "--tar", "--target"), (["tenon", "run"], "--no-c", "--no-cache")):
    found = complete(words, prefix)
    if expected not in found:
        sys.exit(f"error: {shell} completes {' '.join(words)} {prefix} with {found}")
if "--rtol" in complete(["tenon", "compile"], "--"):
    sys.exit(f"error: {shell} completes options of another command")
