# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Whether a chat's answers are those of prompts that are written out: chat.py ARTIFACT TOKENIZER ANSWERS."""

import subprocess
import sys


def answer(artifact, tokenizer, prompt):
    command = ["tenon", "generate", artifact, "--tokenizer", tokenizer, "--prompt", prompt, "-n", "3", "--ignore-eos", "-q"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()[:-1]


def main(artifact, tokenizer, answers):
    text = "<s>be\n<u>hi\n<a>"
    first = answer(artifact, tokenizer, text)
    second = answer(artifact, tokenizer, f"<s>be\n<u>hi\n<a>{first}\n<u>you\n<a>")
    with open(answers, "rb") as file:
        got = file.read().decode()
    assert got == f"{first}\n{second}\n", (got, first, second)


main(*sys.argv[1:])
