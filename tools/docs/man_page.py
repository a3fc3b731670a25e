# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Manual pages in roff, from what the tools print for --help. The requests are those of man(7)."""

import re

# Headings of help pages that manual pages call otherwise.
TITLES = {"Positionals": "Arguments"}

EXIT_CODES = [
    ("0", "The command has done what was asked."),
    ("1", "The model, the artifact or an input is at fault."),
    ("2", "The command line is wrong."),
    ("3", "Something is not supported: an operator, a target, or this machine by the artifact."),
    ("4", "A resource is missing: memory, a limit that was given, or space on the disk."),
    ("5", "A comparison failed."),
    ("70", "The compiler or the runtime is at fault; the compiler leaves a reproducer."),
]


def escape(text):
    """Text as roff prints it: no line is a request, and a hyphen is one that can be searched and copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def split_entry(line):
    """The two columns of a help page's line."""
    left, _, right = line.strip().partition("  ")
    return left, right.strip()


def parse_help(text):
    """Title, usage, and sections of a help page: name to a list of (left column, description)."""
    lines = text.splitlines()
    paragraphs, usage, sections, entries = [], "", {}, None
    for line in lines:
        heading = re.fullmatch(r"(\S[^:]*):", line)
        if line.lower().startswith("usage:"):
            usage = line.partition(":")[2].strip()
        elif heading:
            entries = sections.setdefault(TITLES.get(heading[1], heading[1].capitalize()), [])
        elif entries is None or re.match(r"\S", line):
            # Remarks stand at the margin; exit codes are told on all pages alike.
            if line.strip() and not line.startswith("exit codes:"):
                paragraphs.append(line.strip())
                entries = None if not sections else []
        elif re.match(r" {2}\S", line):
            entries.append(split_entry(line))
        elif line.strip() and entries:
            left, right = entries[-1]
            entries[-1] = (left, (right + " " + line.strip()).strip())
    return paragraphs, usage, sections


def make_page(name, text, version, see_also):
    """The page of command `name`, "tenon compile" for instance, in section 1."""
    paragraphs, usage, sections = parse_help(text)
    examples = [line for line in paragraphs if line.startswith(name.split()[0] + " ")]
    paragraphs = [line for line in paragraphs if line not in examples]
    examples += [" ".join(entry).strip() for entry in sections.pop("Examples", [])]
    title, *remarks = paragraphs
    page = name.replace(" ", "-")
    lines = [f'.TH {escape(page.upper())} 1 "" "Tenon {version}" "User Commands"', ".SH NAME"]
    lines += [f"{escape(page)} \\- {escape(title.rstrip('.'))}", ".SH SYNOPSIS", f"\\fB{escape(usage)}\\fR"]
    if remarks:
        lines += [".SH DESCRIPTION"]
        lines += [part for remark in remarks for part in (escape(remark), ".PP")][:-1]
    for section, entries in sections.items():
        lines += [".SH OPTIONS" if section == "Options" else f".SH {escape(section.upper())}"]
        for left, right in entries:
            lines += [".TP", f"\\fB{escape(left)}\\fR", escape(right or left)]
    if examples:
        lines += [".SH EXAMPLES", ".EX", *(escape(example) for example in examples), ".EE"]
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES:
        lines += [".TP", code, escape(meaning)]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{escape(other)}\\fR(1)" for other in see_also if other != page)]
    return "\n".join(lines) + "\n"


def make_pages(read_help, commands):
    """File names and texts. `read_help` gives the help page of a command, a tuple of words.

    "tenon run" has no page of its own: tenon-run(1) is the program's, and tenon(1) lists the command.
    """
    commands = [command for command in commands if command != ("tenon", "run")]
    names = ["-".join(command) for command in commands]
    version = read_help("tenon", "--version").split()[-1]
    for command, name in zip(commands, names):
        yield name + ".1", make_page(" ".join(command), read_help(*command, "--help"), version, names)
