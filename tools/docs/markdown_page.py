# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Markdown to HTML, as far as the pages of this tree and of mlir-tblgen use it: headings, paragraphs, lists, tables, code, inline marks."""

import html
import re

FENCE = re.compile(r"( *)```(\w*)")
ITEM = re.compile(r"( *)(\d+\.|[-*]) +(.*)")
HEADING = re.compile(r"(#{1,6}) (.*)")
INLINE = re.compile(r"`(?P<code>[^`]+)`|\[(?P<text>[^][]*)\]\((?P<target>[^()\s]+)\)|\*\*(?P<strong>.+?)\*\*|(?<![\w*])[*_](?P<em>[^*_\s](?:[^*_]*[^*_\s])?)[*_](?![\w*])")
# What the descriptions of mlir-tblgen hold as HTML.
RAW = re.compile(r"</?(table|tr|th|td|code|br)\b[^<>]*>")


def make_anchor(text, seen):
    """The anchor of a heading, as GitHub makes it; `seen` counts those of the page."""
    anchor = re.sub(r"[^\w\- ]", "", text.strip().replace("`", "").lower()).replace(" ", "-")
    number = seen.get(anchor, 0)
    seen[anchor] = number + 1
    return f"{anchor}-{number}" if number else anchor


def split_row(line):
    """The cells of a table's row; a bar in code, or behind a backslash, is none that separates."""
    cells = re.split(r"\|(?=(?:[^`]*`[^`]*`)*[^`]*$)", line.strip().strip("|").replace("\\|", "\0"))
    return [cell.strip().replace("\0", "|") for cell in cells]


class Converter:
    """Converts the lines of one page. `link` maps the target of a link to that in HTML."""

    def __init__(self, text, link):
        self.lines = text.split("\n")
        self.link = link
        self.place = 0
        self.anchors = {}

    def format_inline(self, text):
        """The marks within a line: code, links, strong and emphasized text."""
        parts, end = [], 0
        for match in INLINE.finditer(text):
            parts += [html.escape(text[end : match.start()], quote=False), self.format_mark(match)]
            end = match.end()
        return "".join(parts) + html.escape(text[end:], quote=False)

    def format_mark(self, match):
        if match["code"] is not None:
            return f"<code>{html.escape(match['code'], quote=False)}</code>"
        if match["target"] is not None:
            return f'<a href="{html.escape(self.link(match["target"]))}">{self.format_inline(match["text"])}</a>'
        if match["strong"] is not None:
            return f"<strong>{self.format_inline(match['strong'])}</strong>"
        return f"<em>{self.format_inline(match['em'])}</em>"

    def convert(self, indent=0):
        """The HTML of the lines from here on that are indented by `indent` at least."""
        parts = []
        while self.place < len(self.lines):
            line = self.lines[self.place]
            if not line.strip():
                self.place += 1
            elif len(line) - len(line.lstrip()) < indent:
                break
            else:
                parts.append(self.convert_block(line[indent:], indent))
        return "\n".join(parts)

    def convert_block(self, line, indent):
        if FENCE.match(line):
            return self.convert_fence(indent)
        if line.startswith("    "):
            return self.convert_indented_code(indent)
        heading = HEADING.match(line)
        if heading:
            self.place += 1
            level, text = len(heading[1]), heading[2]
            return f'<h{level} id="{make_anchor(text, self.anchors)}">{self.format_inline(text)}</h{level}>'
        if line.startswith("|"):
            return self.convert_table(indent)
        if ITEM.match(line):
            return self.convert_list(indent)
        if RAW.match(line):
            return self.take_while(lambda other: RAW.search(other) is not None)
        return f"<p>{self.format_inline(self.take_paragraph(indent))}</p>"

    def take_while(self, wanted):
        begin = self.place
        while self.place < len(self.lines) and wanted(self.lines[self.place]):
            self.place += 1
        return "\n".join(self.lines[begin : self.place])

    def take_paragraph(self, indent):
        """The lines of a paragraph, up to an empty one or the beginning of another block."""
        taken = [self.lines[self.place].strip()]
        self.place += 1
        while self.place < len(self.lines):
            line = self.lines[self.place]
            rest = line[indent:] if line[:indent].strip() == "" else line.lstrip()
            if not line.strip() or ITEM.match(rest) or HEADING.match(rest) or FENCE.match(rest) or rest.startswith("|"):
                break
            taken.append(line.strip())
            self.place += 1
        return " ".join(taken)

    def convert_fence(self, indent):
        opening = FENCE.match(self.lines[self.place][indent:])
        margin = indent + len(opening[1])
        self.place += 1
        begin = self.place
        while self.place < len(self.lines) and self.lines[self.place].strip() != "```":
            self.place += 1
        code = "\n".join(line[margin:] for line in self.lines[begin : self.place])
        self.place += 1
        return f"<pre><code>{html.escape(code, quote=False)}</code></pre>"

    def convert_indented_code(self, indent):
        code = self.take_while(lambda line: not line.strip() or line.startswith(" " * (indent + 4)))
        lines = [line[indent + 4 :] for line in code.rstrip("\n").split("\n")]
        return f"<pre><code>{html.escape(chr(10).join(lines).rstrip(), quote=False)}</code></pre>"

    def convert_table(self, indent):
        rows = [split_row(line) for line in self.take_while(lambda line: line[indent:].startswith("|")).split("\n")]
        has_head = len(rows) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
        parts = ["<table>"]
        for number, row in enumerate(rows):
            if has_head and number == 1:
                continue
            tag = "th" if has_head and number == 0 else "td"
            parts.append("<tr>" + "".join(f"<{tag}>{self.format_inline(cell)}</{tag}>" for cell in row) + "</tr>")
        return "\n".join([*parts, "</table>"])

    def convert_list(self, indent):
        ordered = ITEM.match(self.lines[self.place][indent:])[2][0].isdigit()
        parts = ["<ol>" if ordered else "<ul>"]
        while self.place < len(self.lines):
            self.take_while(lambda line: not line.strip())
            line = self.lines[self.place] if self.place < len(self.lines) else ""
            item = ITEM.match(line[indent:]) if line[:indent].strip() == "" else None
            if not item or item[1] or item[2][0].isdigit() != ordered:
                break
            inner = indent + len(item[2]) + 1
            self.lines[self.place] = " " * inner + item[3]
            first = self.format_inline(self.take_paragraph(inner))
            parts.append(f"<li>{first}\n{self.convert(inner)}</li>")
        return "\n".join([*parts, "</ol>" if ordered else "</ul>"])


STYLE = """body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff}
pre{background:#f5f5f5;padding:.7rem;overflow-x:auto}code{font:.9em ui-monospace,monospace}table{border-collapse:collapse;margin:1rem 0}
th,td{border:1px solid #ccc;padding:.2rem .5rem;text-align:left;vertical-align:top}nav{margin-bottom:2rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}th,td{border-color:#444}a{color:#8bf}}"""


def make_page(text, title, navigation, link):
    """One HTML page. `navigation` has pairs of a link and its text, which stand on top; `link` maps targets of links."""
    links = " · ".join(f'<a href="{html.escape(target)}">{html.escape(name)}</a>' for target, name in navigation)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    return f"<!doctype html>\n<html lang=\"en\"><head>{head}</head>\n<body><nav>{links}</nav>\n{Converter(text, link).convert()}\n</body></html>\n"
