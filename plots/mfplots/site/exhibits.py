"""docs/reproduction, claim by claim: the published and the measured numbers, the verdict and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_COMMENT = re.compile(r"<!--.*?-->", re.S)
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\\\n(?:.+\n)+", re.M)  # with its caption: the report draws its own
_PART = re.compile(r"^\*\*(Published|Measured|Verdict)([^*]*)\*\*\s*", re.M)
_COMMAND = re.compile(r"^    \./dev reproduce (\S+)", re.M)
# In the order in which they are counted. What was not measured, or not comparably, cannot be told.
VERDICTS = ("holds", "holds in part", "does not hold", "cannot be told")
UNTOLD = ("cannot be told", "not comparable", "not reproduced", "to be measured")
OTHER = "a finding"  # of a question without a claim


@dataclass
class Claim:
    """`published`, `measured` and `why` are Markdown."""

    paper: str
    claim: str
    ours: bool  # a question of this project, not of the paper
    exhibits: list[str]
    verdict: str
    kind: str  # one of VERDICTS, or OTHER
    published: str = ""
    measured: str = ""
    why: str = ""
    other: str = ""


def read_claims(folder: Path) -> list[Claim]:
    """Of all pages of docs/reproduction, in the order of its list of papers, questions of this project last; none without
    such a folder."""
    listed = re.findall(r"\(reproduction/(\w+)\.md\)", folder.with_suffix(".md").read_text(encoding="utf-8")) if folder.is_dir() else []
    return sorted((claim for name in listed for claim in claims_of(folder / f"{name}.md")), key=lambda claim: claim.ours)


def counts_of(claims: Sequence[Claim]) -> dict[str, int]:
    """Counts by verdict, without empty ones."""
    counts = {kind: sum(claim.kind == kind for claim in claims) for kind in (*VERDICTS, OTHER)}
    return {kind: n for kind, n in counts.items() if n}


def claims_of(page: Path) -> list[Claim]:
    text = _PICTURE.sub("", _COMMENT.sub("", page.read_text(encoding="utf-8")))
    found, paper, ours = [], page.stem, False
    for block in re.split(r"^(?=#{1,2} )", text, flags=re.M):
        heading, _, body = block.partition("\n")
        if heading.startswith("# "):
            ours = heading.startswith("# Ours")
            paper = paper if ours else heading[2:].strip()
        elif heading.startswith("## "):
            found += _claims(paper, heading[3:].strip(), ours, body)
    return found


def _claims(paper: str, title: str, ours: bool, body: str) -> list[Claim]:
    """One, or as many as the section has verdicts; none if it has none."""
    exhibits = list(dict.fromkeys(_COMMAND.findall(body)))
    texts: dict[str, list[str]] = {"Published": [], "Measured": [], "Verdict": [], "": []}
    verdicts: list[tuple[str, str]] = []
    pieces = _PART.split(_COMMAND.sub("", body))
    texts[""].append(pieces[0])
    for kind, words, after in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
        label = words.strip(" .:,")
        if kind == "Verdict":
            verdicts.append((label, after))
        else:
            texts[kind].append(f"**{label}.** {after}" if label else after)
    return [Claim(paper, title, ours, exhibits, verdict, verdict_kind(verdict),
                  "\n\n".join(texts["Published"]), "\n\n".join(texts["Measured"]), why,
                  "\n\n".join(texts[""]).strip()) for verdict, why in verdicts]


def verdict_kind(words: str) -> str:
    """ "for 64 blocks: does not hold" is "does not hold"; a claim that holds for some cases holds in part."""
    plain = re.sub(r"^for [^:]*:\s*", "", words.lower())
    if plain.startswith("holds") and plain != "holds":
        return "holds in part"
    if plain.startswith(UNTOLD):
        return "cannot be told"
    return next((kind for kind in VERDICTS if plain.startswith(kind)), OTHER)


def prose(markdown: str) -> str:
    """HTML of it, raw HTML in it escaped."""
    return local_links(_renderer().render(markdown))


@cache
def _renderer() -> Any:
    from markdown_it import MarkdownIt  # only needed for a report

    return MarkdownIt("js-default", {"html": False, "linkify": False})


def local_links(html: str) -> str:
    """Links of the documents point into the repository, which is not beside the pages: their words
    stay, without the link."""
    return re.sub(r'<a href="(?!https?://)[^"]*">(.*?)</a>', r"\1", html, flags=re.S)
