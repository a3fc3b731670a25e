# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A page on a public C header: its declarations, each below the comment that documents it."""

import re

BANNER = "//===---"


def find_name(declaration):
    """The name that a declaration declares; None for one that is no part of the interface."""
    first = declaration[0]
    if first.startswith("#"):
        # Macros with arguments only write other declarations (TENON_ENUM).
        match = re.match(r"#define (\w+) ", first)
        return match.group(1) if match else None
    text = " ".join(declaration)
    for pattern in (r"typedef TENON_ENUM\((\w+)\)", r"typedef .*\(\*(\w+)\)\(", r"typedef .*?(\w+);$", r"(\w+)\("):
        match = re.search(pattern, text)
        if match:
            return match.group(1)
    return None


def read_declarations(lines):
    """Yields the comment and the lines of each declaration; a banner's title is a comment without a declaration."""
    comment, declaration, depth = [], [], 0
    for line in lines:
        stripped = line.strip()
        if not declaration and stripped.startswith("///"):
            comment.append(stripped[3:].strip())
            continue
        if not declaration and (not stripped or stripped.startswith("//")):
            title = re.match(r"// (\w[\w ]*)$", stripped)
            if title:
                yield [title.group(1)], []
            comment = []
            continue
        declaration.append(line)
        code = re.sub(r"//.*|/\*.*?\*/", "", line)
        depth += code.count("{") - code.count("}") + code.count("(") - code.count(")")
        is_directive = declaration[0].startswith("#")
        if (is_directive and not line.endswith("\\")) or (not is_directive and depth == 0 and code.rstrip().endswith(";")):
            yield comment, declaration
            comment, declaration, depth = [], [], 0
    if declaration and find_name(declaration):
        raise ValueError("a declaration does not end: " + declaration[0])


def select_public(lines):
    """The lines between the opening and the closing of extern "C"."""
    begin = next(i for i, line in enumerate(lines) if line.startswith('extern "C"'))
    end = max(i for i, line in enumerate(lines) if line.strip() == "}")
    return lines[begin + 1 : end]


def make_page(path, title, source):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    begin = next(i for i, line in enumerate(lines) if i > 0 and line.startswith(BANNER))
    end = next(i for i, line in enumerate(lines) if i > begin and line.startswith(BANNER))
    page = [f"# {title}", "", f"Generated from `{source}`.", "", "```"]
    page += [line[2:].removeprefix(" ") for line in lines[begin + 1 : end]] + ["```"]
    for comment, declaration in read_declarations(select_public(lines)):
        if not declaration:
            page += ["", f"## {comment[0]}"]
            continue
        name = find_name(declaration)
        if name:
            page += ["", f"### `{name}`", ""] + ([" ".join(comment), ""] if comment else [])
            page += ["```c", *declaration, "```"]
    return "\n".join(page) + "\n"
