# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Rules about size: files of at most 1,000 lines, functions of at most 100."""

import ast
import re

from linter.tree import CPP_SUFFIXES, Finding, interpreter

MAX_FILE_LINES = 1000
MAX_FUNCTION_LINES = 100

# Comments and literals, which may hold braces. Digit separators (1'000) are no character literals.
OPAQUE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
# Of the text in front of a brace: what opens a scope whose functions count, each by itself.
SCOPE = re.compile(r'\b(namespace|class|struct|union|enum|extern)\b')


def blank(match):
    """As many lines as what is taken out."""
    return "\n" * match.group(0).count("\n")


def find_functions(text):
    """Pairs of the first line and the number of lines of each function of C or C++; lambdas count as part of theirs."""
    text = OPAQUE.sub(blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.MULTILINE)
    line, start, head_line, inside, initializer = 1, 0, 1, None, None
    scopes = 0
    for match in re.finditer(r"[{};\n]", text):
        mark = match.group(0)
        if mark == "\n":
            line += 1
            continue
        head = text[start : match.start()]
        if mark == "{":
            if inside is None and initializer is None:
                if is_initializer(head):
                    initializer = scopes
                elif is_function(head):
                    # From the line that the head begins on.
                    head_line = line - head[len(head) - len(head.lstrip()) :].count("\n")
                    inside = scopes
            scopes += 1
        elif mark == "}" and scopes:
            scopes -= 1
            if inside == scopes:
                yield head_line, line - head_line + 1
                inside = None
            if initializer == scopes:
                initializer = None
                continue
        # A constructor's head goes on behind the braces that initialize a member.
        if initializer is None:
            start = match.end()


def is_initializer(head):
    """Whether the brace behind `S() : a(1), b` begins the value of b."""
    return bool(re.search(r"\)\s*(noexcept\s*)?:(?!:)", head) and re.search(r"[\w>]\s*$", head))


def is_function(head):
    head = head.strip()
    if "(" not in head or head.endswith(("=", ",", "(")):
        return False
    # `struct A f() {` is a function, and `struct A : B<(1 > 0)> {` none.
    scope = SCOPE.match(re.sub(r"^(template\s*<.*?>\s*|static\s+|inline\s+|typedef\s+)*", "", head, flags=re.DOTALL))
    return not scope or bool(re.search(r"\)\s*(const|noexcept|override|final|\s)*$", head))


def check_size(tree):
    """Files and functions stay short enough to be read."""
    for path in tree.paths:
        text = tree.text(path)
        is_cpp = path.endswith(CPP_SUFFIXES)
        is_python = path.endswith(".py") or interpreter(text).startswith("python")
        is_source = is_cpp or is_python or path.endswith((".td", ".cmake", "CMakeLists.txt")) or interpreter(text)
        if is_source and text.count("\n") > MAX_FILE_LINES:
            yield Finding(path, 1, f"{text.count(chr(10))} lines: split files of more than {MAX_FILE_LINES}")
        if is_cpp:
            functions = find_functions(text)
        elif is_python:
            functions = find_python_functions(text)
        else:
            continue
        for line, count in functions:
            if count > MAX_FUNCTION_LINES:
                yield Finding(path, line, f"a function of {count} lines: split those of more than {MAX_FUNCTION_LINES}")


def find_python_functions(text):
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return  # the rule `python` reports it
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1
