#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages, one per folder of public headers, from the headers themselves.

    gen_reference.py [-o FOLDER]        default: docs/reference

A header is a sequence of blocks between empty lines. A block that declares functions gets a
heading with their names, its comments as text and its prototypes as code; any other block (types,
constants) is shown as it stands; a comment with a rule of dashes is a heading. Indented lines and
columns in comments stay as they are. Run it again after a change of a header; a test compares.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gen_cdef import DECORATIONS

ROOT = Path(__file__).parents[1]
PAGES = {
    "acl": (ROOT / "runtime" / "include" / "acl", "the runtime"),
    "aclnn": (ROOT / "runtime" / "include" / "aclnn", "tensors and executors"),
    "aclnnop": (ROOT / "aclnn_api" / "include" / "aclnnop", "the operators"),
}
# What says nothing to a reader: guards, includes and other directives, and the lines that open and
# close linkage and namespaces.
NOISE = re.compile(
    r'^#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n'
    r"|^# *(?:if|ifdef|ifndef|elif|else|endif|include|undef|pragma)\b.*\n"
    r"|^# *define \w+\n"
    r"|^(?:namespace \w+ \{|\}  // namespace \w+)\n",
    re.MULTILINE,
)
LICENSE = re.compile(r"\A(?:// SPDX-.*|/\* SPDX-.*\*/)\n")
BLOCK_COMMENT = re.compile(r"^/\*\n(.*?)^ \*/\n", re.MULTILINE | re.DOTALL)
RULE = re.compile(r"// (?:-{3,} (.+)|(.+?) -{3,})$")
FUNCTION = re.compile(r"^[\w\s*]*?\b(\w+)\(")


@dataclass
class Block:
    lines: list[str]

    @property
    def title(self) -> str | None:
        rule = RULE.match(self.lines[0])
        return rule and (rule[1] or rule[2])

    def runs(self) -> Iterator[tuple[bool, list[str]]]:
        """Consecutive comments (True) and declarations (False)."""
        for comment, lines in itertools.groupby(self.lines, is_comment):
            yield comment, list(lines)

    def functions(self) -> list[str]:
        """Names of the functions that the block declares; none if it defines types or bodies."""
        code = "\n".join(line for line in self.lines if not line.startswith(("//", "#")))
        if re.search(r"[{}]|^typedef", code, re.MULTILINE):
            return []
        statements = (DECORATIONS.sub("", text).strip() for text in code.split(";"))
        return [found[1] for text in statements if (found := FUNCTION.match(text))]


def is_comment(line: str) -> bool:
    return line.startswith("//")


def blocks(text: str) -> Iterator[Block]:
    """Blocks of a header between empty lines and at rules; inside braces neither counts."""
    text = BLOCK_COMMENT.sub(lambda m: re.sub(r"^ \* ?", "// ", m[1], flags=re.M) + "\n", text)
    lines: list[str] = []
    depth = 0
    for line in NOISE.sub("", LICENSE.sub("", text)).splitlines():
        if depth == 0 and lines and (not line or RULE.match(line)):
            yield Block(lines)
            lines = []
        if depth or line:
            lines.append(line.rstrip())
            code = line.split("//")[0]
            depth += code.count("{") - code.count("}")
    if lines:
        yield Block(lines)


def fence(lines: list[str], language: str) -> str:
    return "\n".join([f"```{language}", *lines, "```\n"])


def escape(line: str) -> str:
    """Marks that are plain text in a comment, but not between backticks."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"([*<])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def paragraphs(comment: list[str]) -> str:
    """A comment as Markdown: text, lists, and what is indented or in columns as it stands."""
    out: list[str] = []
    preformatted: list[str] = []

    def flush() -> None:
        if any(preformatted):
            text = textwrap.dedent("\n".join(preformatted)).strip("\n")
            out.append("\n" + fence(text.split("\n"), "text"))
        elif preformatted:
            out.append("")
        preformatted.clear()

    in_list = False
    for line in (re.sub(r"^// ?", "", line) for line in comment):
        indented = line.startswith("  ")
        in_list = bool(re.match(r" *- ", line)) or (in_list and indented)
        if not in_list and (indented or "   " in line or not line):
            preformatted.append(line)
            continue
        flush()
        out.append(escape(line))
    flush()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n") + "\n"


def prototypes(lines: list[str]) -> str:
    """Declarations without decorations, aligned as they were."""
    out: list[str] = []
    removed = 0
    for line in lines:
        plain = DECORATIONS.sub("", line).lstrip() if DECORATIONS.match(line) else line
        if plain != line:
            removed = len(line) - len(plain)
        elif line.startswith(" " * (removed + 1)):
            plain = line[removed:]
        out.append(plain)
    return fence(out, "c")


def anchor(heading: str) -> str:
    """The anchor that renderers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def section(name: str, text: str) -> tuple[str, list[str]]:
    """One header as Markdown, and the names of its functions, which are anchors too."""
    out, names = [f"## {name}\n"], []
    shown: list[str] = []  # blocks that appear as they stand, neighbours together

    def flush() -> None:
        if shown:
            code = "\n\n".join(shown)
            out.append(fence([code], "cpp" if "::" in code else "c"))
            shown.clear()

    for block in blocks(text):
        functions = block.functions()
        code = [line for line in block.lines if not is_comment(line)]
        if not functions and code and not block.title:
            if not code[0].startswith("inline "):  # the body of what was declared above it
                shown.append("\n".join(block.lines))
            continue
        flush()
        if block.title:
            out.append(f"### {block.title}\n")
            block.lines.pop(0)
        if functions:
            anchors = "".join(f'<a id="{function}"></a>' for function in functions)
            out.append(f"{anchors}\n\n#### {', '.join(functions)}\n")
            names += functions
        for comment, lines in block.runs():
            out.append(paragraphs(lines) if comment else prototypes(lines))
    flush()
    return "\n".join(out), names


def page(name: str, folder: Path, about: str) -> str:
    contents, sections = [], []
    for header in sorted(folder.rglob("*.h")):
        title = f"{name}/{header.relative_to(folder).as_posix()}"
        text, functions = section(title, header.read_text(encoding="utf-8"))
        links = [f"[{function}](#{function})" for function in functions]
        contents.append(f"- [{title}](#{anchor(title)})" + ": " * bool(links) + ", ".join(links))
        sections.append(text)
    return "\n".join(
        [
            f"# {name}: {about}\n",
            "Generated from the headers by `tools/gen_reference.py`: change those instead.\n",
            *contents,
            "",
            *sections,
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the reference pages.")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "reference")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    for name, (folder, about) in PAGES.items():
        (output / f"{name}.md").write_text(page(name, folder, about), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
