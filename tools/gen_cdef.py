#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives the cffi declarations of the Python package from the public C headers.

    gen_cdef.py -o _cdef.py INCLUDE_DIR...

Every header below the include directories is read as a C (not C++) compiler would, its quoted
includes first; what remains is declarations and integer constants, the form cffi understands.
Angle-bracket includes are left out: cffi knows the types of the C library. A directive that this
script does not understand is an error, so that a header never loses declarations unnoticed.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

DECORATIONS = re.compile(
    r"\b(?:ACL_FUNC_VISIBILITY|ACLNN_API|ACL_DEPRECATED)\b"
    r'|\bACL_DEPRECATED_MESSAGE\s*\(\s*"[^"]*"\s*\)'
)
COMMENTS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
INTEGER = re.compile(r"\(?\s*(-?(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*\s*\)?$")


def strip_comments(text: str) -> str:
    # Newlines stay, so that errors name the right line.
    return COMMENTS.sub(lambda m: m[0] if m[0][0] == '"' else " " + "\n" * m[0].count("\n"), text)


def is_true(expression: str, defined: set[str]) -> bool:
    """Value of a preprocessor condition made of defined(), integers and operators."""
    expression = re.sub(
        r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
        lambda m: str(int((m[1] or m[2]) in defined)),
        expression,
    )
    # As in C, a name that is not a macro counts as 0.
    expression = re.sub(r"\b[A-Za-z_]\w*\b", "0", expression)
    expression = re.sub(r"(\d)[uUlL]+\b", r"\1", expression)
    python = expression.replace("&&", " and ").replace("||", " or ")
    python = re.sub(r"!(?!=)", " not ", python)
    if re.search(r"[^\w\s()<>=!+*-]", python):
        raise ValueError(f"cannot evaluate '#if {expression}'")
    return bool(eval(python, {"__builtins__": {}}))


class Reader:
    """Reads headers as C and collects declarations, each header once."""

    def __init__(self, include_dirs: list[Path]) -> None:
        self.include_dirs = include_dirs
        self.lines: list[str] = []
        self._defined: set[str] = set()
        self._seen: set[Path] = set()

    def read(self, header: Path) -> None:
        header = header.resolve()
        if header in self._seen:
            return
        self._seen.add(header)
        text = strip_comments(header.read_text(encoding="utf-8")).replace("\\\n", " ")
        branches: list[tuple[bool, bool]] = []  # (live now, some branch already taken)
        for number, line in enumerate(text.splitlines(), start=1):
            directive = re.match(r"\s*#\s*(\w+)\s*(.*?)\s*$", line)
            try:
                if directive is None:
                    if all(live for live, _ in branches):
                        self.lines.append(line)
                elif not self._conditional(directive[1], directive[2], branches) and all(
                    live for live, _ in branches
                ):
                    self._directive(directive[1], directive[2], header)
            except ValueError as error:
                raise ValueError(f"{header}:{number}: {error}") from error

    def _conditional(self, name: str, rest: str, branches: list[tuple[bool, bool]]) -> bool:
        """Follows #if ... #endif; False for any other directive."""
        if name in ("if", "ifdef", "ifndef"):
            condition = rest if name == "if" else f"{'!' * (name == 'ifndef')}defined({rest})"
            live = all(live for live, _ in branches) and is_true(condition, self._defined)
            branches.append((live, live))
        elif name in ("elif", "else"):
            _, taken = branches.pop()
            live = not taken and (name == "else" or is_true(rest, self._defined))
            branches.append((live, taken or live))
        elif name == "endif":
            branches.pop()
        else:
            return False
        return True

    def _directive(self, name: str, rest: str, header: Path) -> None:
        if name == "include":
            if rest.startswith('"'):
                self.read(self._find(rest.strip('"'), header))
        elif name == "define":
            self._define(rest)
        elif name == "undef":
            self._defined.discard(rest)
        elif name == "error":
            raise ValueError(f"#error {rest}")
        elif name != "pragma":
            raise ValueError(f"directive #{name} is not understood")

    def _define(self, rest: str) -> None:
        match = re.match(r"(\w+)(\([^)]*\))?\s*(.*)$", rest)
        if match is None:
            raise ValueError(f"#define {rest} is not understood")
        name, parameters, value = match.groups()
        self._defined.add(name)
        integer = INTEGER.match(value)
        if integer and not parameters:
            self.lines.append(f"#define {name} {integer[1]}")

    def _find(self, name: str, header: Path) -> Path:
        for folder in [header.parent, *self.include_dirs]:
            if (folder / name).is_file():
                return folder / name
        raise ValueError(f"include file {name} not found")


def declarations(include_dirs: list[Path]) -> str:
    """The text for cffi.FFI.cdef: declarations of all headers below the include directories."""
    reader = Reader(include_dirs)
    for folder in include_dirs:
        for header in sorted(folder.rglob("*.h")):
            reader.read(header)
    text = DECORATIONS.sub("", "\n".join(reader.lines))
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Derives the cffi declarations.")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("include_dirs", type=Path, nargs="+")
    arguments = parser.parse_args()
    cdef = declarations(arguments.include_dirs)
    arguments.output.write_text(
        "# SPDX-License-Identifier: Apache-2.0\n"
        f"# Generated from the public headers by {Path(__file__).name}; do not edit.\n"
        f'CDEF = r"""{cdef}"""\n',
        encoding="utf-8",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
