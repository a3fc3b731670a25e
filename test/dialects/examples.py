#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Parses every example of the operations' descriptions, prints it, and parses that again.

usage: examples.py LLVM-TBLGEN TENON-OPT INCLUDE-FOLDER... -- FILE.td...

The examples are the ```mlir fences of the descriptions that LLVM-TBLGEN finds in the files, so that those which a
TableGen class builds are seen, too. Values that an example uses and does not define become arguments of a function
around it, of the types that stand after the operation's colon. What follows `// ==>` is another example.

Prints what is wrong with each example that fails, and the number of examples; the exit code is 0 where none does.
"""

import json
import re
import subprocess
import sys

FENCE = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
VALUE = re.compile(r"%[A-Za-z0-9_]+")


def descriptions(tblgen, includes, path):
    """Pairs of a record's mnemonic and its description."""
    command = [tblgen, "--dump-json", path] + ["-I" + folder for folder in includes]
    records = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    wanted = set(records["!instanceof"].get("Op", [])) | set(records["!instanceof"].get("AttrDef", []))
    for name in sorted(wanted):
        record = records[name]
        yield record.get("opName") or record.get("mnemonic"), record.get("description") or ""


def split_types(text):
    """The types of a list, commas inside of brackets aside."""
    types, depth, last = [], 0, 0
    for position, character in enumerate(text):
        arrow = character == ">" and text[position - 1 : position] == "-"
        if character in "<([{":
            depth += 1
        elif character in ">)]}" and not arrow:
            depth -= 1
        elif character == "," and depth == 0:
            types.append(text[last:position].strip())
            last = position + 1
    last_type = text[last:].strip()
    return types + [last_type] if last_type else types


def closing(text, start):
    """The position after the bracket that closes the one at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] in "([{") - (text[position] in ")]}")
        if depth == 0:
            return position + 1
    raise ValueError(f"unbalanced brackets in {text!r}")


def operand_types(statement):
    """The operands of one operation with their types, as far as a functional type at its end tells them."""
    results, equals, rest = statement.partition("=")
    if not equals or not results.strip().startswith("%"):
        rest = statement
    found = list(re.finditer(r":\s*\(", rest))
    if not found:
        return {}
    start = found[-1].end() - 1
    types = split_types(rest[start + 1 : closing(rest, start) - 1])
    head = rest[: found[-1].start()]
    head = head.split("{")[0]
    return dict(zip(VALUE.findall(head), types))


def wrap(example):
    """A module with the example in it. An attribute alone stands on a function, under a name that no dialect owns."""
    text = re.sub(r"\A(//.*\n\s*)+", "", example.strip())
    if text.startswith("#"):
        return f'func.func private @example() attributes {{example = {text.split("==")[0].strip()}}}\n'
    if text.startswith(("module", "func.func", "plan.program", "tenon.state ")):
        return text
    if re.search(r"\bplan\.", text):
        return wrap_plan(text)
    statements = re.split(r"\n(?=\s*(?:%|tenon\.))", text)
    types, defined = {}, set()
    for statement in statements:
        for value, type in operand_types(statement).items():
            if value not in defined:
                types.setdefault(value, type)
        defined.update(VALUE.findall(statement.partition("=")[0]) if "=" in statement else [])
    arguments = ", ".join(f"{value}: {type}" for value, type in types.items())
    kernels = ""
    for kernel in re.findall(r"tenon\.launch (@\w+)", text):
        signature = re.search(re.escape(kernel) + r".*?:\s*(\(.*)", text, re.DOTALL).group(1)
        kernels += f"func.func private {kernel}{signature}\n"
    return f"{kernels}func.func @example({arguments}) {{\n{text}\nreturn\n}}\n"


def wrap_plan(text):
    """An instruction in a program; what it uses are activations and sizes."""
    sizes = re.findall(r"(?:sizes\(|tiles |size )(%\w+)", text)
    buffers = [value for value in dict.fromkeys(VALUE.findall(text)) if value not in sizes]
    lines = ["%one = arith.constant 1 : index"] + [f"{size} = arith.constant 1 : index" for size in dict.fromkeys(sizes)]
    lines += [f"{value} = plan.alloc %one" for value in buffers]
    body = "\n".join(lines)
    return f"plan.program @example symbols [] inputs [] outputs [] {{\n{body}\n{text}\n}}\n"


def check(opt, module):
    """What is wrong with a module: it does not parse, or reads differently once it was printed. None if nothing."""
    first = subprocess.run([opt, "-"], input=module, capture_output=True, text=True)
    if first.returncode != 0:
        return first.stderr.strip()
    second = subprocess.run([opt, "-"], input=first.stdout, capture_output=True, text=True)
    if second.stdout != first.stdout:
        return f"prints as\n{first.stdout}which reads as\n{second.stdout}{second.stderr}"
    return None


def main():
    arguments = sys.argv[1:]
    border = arguments.index("--")
    (tblgen, opt, *includes), files = arguments[:border], arguments[border + 1 :]
    count, failures = 0, 0
    for path in files:
        for name, description in descriptions(tblgen, includes, path):
            for fence in FENCE.findall(description):
                for example in fence.split("// ==>"):
                    count += 1
                    module = wrap(example)
                    problem = check(opt, module)
                    if problem:
                        failures += 1
                        print(f"{name}: {problem}\n{module}")
    print(f"{count} examples, {failures} fail")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
