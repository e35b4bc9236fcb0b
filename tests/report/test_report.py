"""The report: whole for every kind of model, alone in its file, and nothing in it can run."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="reports need Matplotlib: pip install 'ssvgp[plots]'")

from report_models import ALL, ATTACK, EVIL, NAMES, page_of, paper

from ssvgp import load
from ssvgp.report import words
from ssvgp.report.report import report, write_report

SECTIONS = ["inclusion", "effects", "interactions", "fit", "sets", "stand-ins", "data"]
PICTURE = re.compile(r'src="data:image/svg\+xml;base64,([^"]*)"')


class Page(HTMLParser):
    """Tags, attributes and text of a page as a browser would read them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.given: list[tuple[str, str | None]] = []
        self.anchors: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.given += attrs
        if tag == "section":
            self.anchors.append(dict(attrs)["id"] or "")

    def handle_data(self, data: str) -> None:
        self.words += data


def pictures_of(text: str) -> list[str]:
    return [base64.b64decode(found).decode() for found in PICTURE.findall(text)]


@pytest.mark.parametrize("kind", ALL)
def test_every_kind_of_model_has_a_whole_report(kind: str) -> None:
    text = page_of(kind)
    found = Page(text)
    assert [one for one in found.anchors if one != "profiles"] == SECTIONS
    assert ("profiles" in found.anchors) == (kind == "paper")
    assert len(text) < 2_000_000 and "nan" not in found.words.split()
    for picture in pictures_of(text):
        ElementTree.fromstring(picture)


@pytest.mark.parametrize("kind", ["paper", "curved"])
def test_a_loaded_model_has_the_same_report(kind: str, tmp_path: Path) -> None:
    ALL[kind]().save(tmp_path / "model")
    assert report(load(tmp_path / "model"), "y") == page_of(kind)


def test_nothing_from_the_table_can_run() -> None:
    found = Page(page_of("odd"))
    assert not set(found.tags) & {"script", "b", "iframe", "object", "link", "form", "svg"}
    assert not [name for name, _ in found.given if name.startswith("on")]
    assert EVIL in found.words and ATTACK in found.words and "--><b>still</b>" in found.words
    assert any(value and value.startswith("default-src 'none'") for _, value in found.given)  # and if it could


def test_nothing_from_the_table_can_run_in_a_picture() -> None:
    drawn = pictures_of(page_of("odd"))
    whole = [ElementTree.fromstring(picture) for picture in drawn]
    tags = {element.tag.split("}")[1] for picture in whole for element in picture.iter()}
    assert not tags & {"script", "foreignObject", "image", "a", "b", "img"}
    texts = {element.text for picture in whole for element in picture.iter() if element.tag.endswith("}text")}
    assert EVIL in texts and any(text and "价格" in text and "$x_1$" in text for text in texts)
    assert not any("onerror" in name for picture in whole for element in picture.iter() for name in element.attrib)


def test_a_report_stands_alone() -> None:
    text = page_of("odd")
    found = Page(text)
    links = [value or "" for name, value in found.given if name in ("src", "href", "action", "data", "srcset")]
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in links) and links
    assert "@import" not in text and "url(" not in text
    for picture in pictures_of(text):
        inside = [value for one in ElementTree.fromstring(picture).iter() for name, value in one.attrib.items()
                  if name.endswith("href")]  # fmt: skip
        assert all(link.startswith("#") for link in inside) and "@import" not in picture


def test_every_picture_says_how_to_read_it_and_has_words_instead() -> None:
    text = page_of("odd")
    found = Page(text)
    alts = [value for name, value in found.given if name == "alt"]
    assert len(alts) == found.tags.count("img") == found.tags.count("figcaption") and all(alts)
    for section in text.split("<section ")[1:]:
        assert "<img" not in section or "How to read it" in section


def test_the_answer_comes_first() -> None:
    said = Page(page_of("demo")).words
    assert re.search(r"Of 60 inputs, 4 decide y: .*reactor_temperature.*\. The model explains \d+% of its", said)
    said = Page(page_of("constant")).words
    assert "None of the 4 inputs can be said to decide y" in said and "there is nothing to explain" in said


def test_of_many_inputs_the_first_are_shown() -> None:
    text = page_of("many")
    assert "Shown are the 12 with the largest part in the variation, of 60 selected" in text
    assert text.count('alt="Effect of') == 12


def test_relatives_and_copies_are_told() -> None:
    text = page_of("odd")
    told = Page(text[text.index('id="stand-ins"') : text.index('id="data"')]).words
    assert "kin (+0.9" in told and "twin (a copy)" in told
    notes = Page(text[text.index('id="data"') :]).words
    assert f"Constant columns were left out: {NAMES[7]}" in notes and "it passed a curve for the fit" in notes


def test_an_interrupted_fit_says_so(tmp_path: Path) -> None:
    paper().save(tmp_path / "model")
    model = load(tmp_path / "model")
    model.ensemble_.notes["interrupted"] = True
    model.save(tmp_path / "model")
    assert "The fit was interrupted" in report(load(tmp_path / "model")) and "interrupted" not in page_of("paper")


def test_the_same_model_gives_the_same_file(tmp_path: Path) -> None:
    write_report(paper(), tmp_path / "one.html", target="y")
    assert (tmp_path / "one.html").read_text(encoding="utf-8") == page_of("paper")


class Curve:
    """An effect with a narrow band."""

    def __init__(self, mean: np.ndarray, half: float = 0.01) -> None:
        self.grid, self.mean = np.linspace(0.0, 10.0, mean.size), mean
        self.lower, self.upper = mean - half, mean + half


T = np.linspace(-1.0, 1.0, 41)


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        (Curve(T), "y rises by about 2"),
        (Curve(-3.0 * T), "y falls by about 6"),
        (Curve(T + 0.02 * np.sin(40 * T)), "y rises"),
        (Curve(-(T**2)), "rises until about 5 and falls after"),
        (Curve(T**2), "falls until about 5 and rises after"),
        (Curve(np.sin(8 * T)), "moves up and down"),
        (Curve(0.1 * T, half=1.0), "hardly changes"),
    ],
)
def test_the_course_of_an_effect_is_put_in_words(curve: Curve, said: str) -> None:
    assert said in words.shape(curve, "y")


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0"), (1234.5, "1,230"), (0.01234, "0.0123"), (-2.0, "-2"), (3.2e-7, "3.20e-07")]
)
def test_numbers_have_three_figures(value: float, said: str) -> None:
    assert words.number(value) == said


def test_intervals_are_judged_against_chance() -> None:
    assert "too narrow" in words.verdict(0.9, 0.7, 200) and "cautious" in words.verdict(0.9, 0.99, 200)
    assert "chance" in words.verdict(0.9, 0.87, 200) and "too narrow" in words.verdict(0.9, 0.87, 20_000)
