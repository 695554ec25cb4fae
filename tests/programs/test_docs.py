# SPDX-License-Identifier: Apache-2.0
"""What docs/engines.md tells users to run, run section by section, and the links of all pages."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import SEARCH_PATH, run

ROOT = Path(__file__).parents[2]
TOOLS = ("g++", "make", "cmake", "pkg-config")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SET_UP = "The prefix"  # the section whose commands come before those of any other


def sections(text: str) -> dict[str, list[tuple[str, str]]]:
    """Headings of the page with the code blocks below them: language and text."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {
        title: FENCE.findall(part) for title, part in zip(parts[1::2], parts[2::2], strict=True)
    }


ENGINES = sections((ROOT / "docs" / "engines.md").read_text("utf-8"))
RUNNABLE = [title for title, blocks in ENGINES.items() if dict(blocks).get("sh")]


def commands(title: str) -> str:
    return "".join(text for language, text in ENGINES[title] if language == "sh")


def write_files(folder: Path) -> None:
    """Every block that is no command is a file that its first line names."""
    for blocks in ENGINES.values():
        for language, text in blocks:
            if language != "sh":
                name = re.match(r"(?://|#) (\S+)\n", text)
                assert name, f"neither commands nor a file with a name: {text[:80]}"
                (folder / name[1]).parent.mkdir(exist_ok=True)
                (folder / name[1]).write_text(text, encoding="utf-8")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("title", RUNNABLE)
def test_commands_of_engines_page(title: str, tmp_path: Path) -> None:
    script = commands(SET_UP) + (commands(title) if title != SET_UP else "")
    for tool in TOOLS:
        used = re.search(rf"^{tool}\b|\({tool}\b", script, re.MULTILINE)
        if used and shutil.which(tool, path=SEARCH_PATH) is None:
            pytest.skip(f"no {tool}")
    write_files(tmp_path)
    printed = run("bash", "-ec", script, folder=tmp_path)
    if "engine" in script:
        assert "2 cube cores" in printed  # two rows that need one KV block each


def test_every_way_to_build_is_on_the_page() -> None:
    text = "".join(map(commands, RUNNABLE))
    assert all(tool in text for tool in TOOLS)


def pages() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    for folder in ROOT.iterdir():
        if folder.is_dir() and not folder.name.startswith((".", "build", "dist")):
            yield from folder.rglob("*.md")


def anchors(text: str) -> set[str]:
    """Anchors of a page as renderers make them from headings, and explicit ones."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)">', text))


def test_links_between_pages_resolve() -> None:
    broken, checked = [], 0
    for page in pages():
        text = page.read_text("utf-8")
        for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            checked += 1
            if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
    assert checked > 100
