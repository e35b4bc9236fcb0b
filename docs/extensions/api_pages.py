"""The reference from the code: a block ```{api} with dotted names becomes signatures, docstrings and fields.

Docstrings are Markdown already. Two things are read beside them: sections `Parameters` and `Attributes`, with entries
"name : text" and continuation lines indented, and the comments behind the fields of a record.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

BLOCK = re.compile(r"^```\{api\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w+) : (.*)$")
FIELD = re.compile(r"^    (\w+):[^#]*(?:#\s*(.*))?$")
ROUTING = re.compile(r"set_\w+_request|get_metadata_routing|set_output")  # scikit-learn's own business
WIDE = 100


def names_in(text: str) -> list[str]:
    """All names that the blocks of a page ask for."""
    return [name for block in BLOCK.findall(text) for name in block.split()]


def expanded(text: str) -> str:
    """The page with every block replaced by what the code says."""
    return BLOCK.sub(lambda found: "\n\n".join(described(name) for name in found[1].split()), text)


def described(dotted: str) -> str:
    """The Markdown of one object, by its dotted name."""
    thing, name = found(dotted), dotted.rpartition(".")[2]
    if inspect.isclass(thing):
        return "\n\n".join(_class(thing, name))
    if callable(thing):
        return "\n\n".join(_function(thing, name, "###"))
    raise TypeError(f"the reference has classes and functions; {dotted} is a {type(thing).__name__}")


def found(dotted: str) -> Any:
    """The object that a dotted name stands for; its longest importable part is a module."""
    parts = dotted.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            here: Any = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for part in parts[depth:]:
            here = getattr(here, part)
        return here
    raise ModuleNotFoundError(dotted)


# --- signatures -----------------------------------------------------------------------------------------------------


def signature(thing: Any, name: str) -> str:
    """`name(parameters) -> answer`, on one line or one line for each parameter."""
    given = inspect.signature(thing)
    parameters = [p for p in given.parameters.values() if p.name != "self"]
    texts: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in texts:
            texts.append("*")
        texts.append(_parameter(parameter))
    answer = given.return_annotation
    tail = "" if inspect.isclass(thing) or answer in ("Any", inspect.Signature.empty) else f" -> {_type(answer)}"
    line = f"{name}({', '.join(texts)}){tail}"
    return line if len(line) <= WIDE else f"{name}(\n" + "".join(f"    {text},\n" for text in texts) + f"){tail}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = parameter.annotation
    typed = "" if kind in ("Any", Any, parameter.empty) else f": {_type(kind)}"
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}{typed}"
    return f"{stars}{parameter.name}{typed}{' = ' if typed else '='}{_value(parameter.default)}"


def _type(annotation: Any) -> str:
    """An annotation as it is written, without the places that names come from."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"\b(?:\w+\.)+(?=[A-Za-z])", "", text)


def _value(default: Any) -> str:
    if isinstance(default, tuple) and len(default) > 6:
        return f"({_value(default[0])}, ..., {_value(default[-1])})"
    if isinstance(default, float):
        return f"{default:g}"
    if default is dataclasses.MISSING or type(default).__repr__ is object.__repr__:
        return "..."
    return repr(default)


# --- functions and classes ------------------------------------------------------------------------------------------


def _function(thing: Any, name: str, level: str) -> Iterator[str]:
    yield f"{level} {name}"
    yield f"```py\n{signature(thing, name)}\n```"
    yield _documented(thing)


def _class(kind: type, name: str) -> Iterator[str]:
    text, sections = sections_of(_documented(kind))
    yield f"### {name}"
    if issubclass(kind, Exception):
        yield f"A kind of `{kind.__mro__[1].__name__}`. {text}"
        return
    if dataclasses.is_dataclass(kind):
        yield text
        yield _fields(kind)
    else:
        yield f"```py\n{signature(kind, name)}\n```"
        yield text
    for title, entries in sections.items():
        yield f"**{title}**"
        yield _table(title.lower().removesuffix("s"), entries)
    properties = dict(_properties(kind)) if not sections else {}
    if properties:
        yield _table("property", properties)
    for method, function in own_methods(kind):
        yield from _function(function, f"{name}.{method}", "####")
    inherited = list(_inherited(kind))
    if inherited:
        yield "**From scikit-learn**"
        yield _table("method", dict(inherited))


def sections_of(docstring: str) -> tuple[str, dict[str, dict[str, str]]]:
    """The docstring before its sections, and the entries of each section."""
    head, *rest = SECTION.split(docstring)
    return head.strip(), {title: _entries(body) for title, body in zip(rest[::2], rest[1::2], strict=True)}


def _entries(body: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    for line in body.strip().split("\n"):
        start = ENTRY.match(line)
        if start:
            entries[start[1]] = start[2]
        elif line.startswith("    ") and entries:
            entries[next(reversed(entries))] += f" {line.strip()}"
        else:
            raise ValueError(f"an entry of a docstring is 'name : text', not {line!r}")
    return entries


def own_methods(kind: type) -> list[tuple[str, Any]]:
    """Public methods that this package wrote, those of the class itself first.

    A method without a docstring is one that a protocol asks for, such as the matrix of a kernel: users do not call it.
    """
    ours = [base for base in kind.__mro__ if base.__module__.startswith("ssvgp")]
    seen: dict[str, Any] = {}
    for base in ours:
        for name, value in vars(base).items():
            if inspect.isfunction(value) and value.__doc__ and not name.startswith("_"):
                seen.setdefault(name, value)
    return list(seen.items())


def _properties(kind: type) -> Iterator[tuple[str, str]]:
    for name, value in vars(kind).items():
        if isinstance(value, property) and not name.startswith("_") and value.__doc__:
            yield name, value.__doc__


def _inherited(kind: type) -> Iterator[tuple[str, str]]:
    for base in kind.__mro__:
        for name, value in sorted(vars(base).items()):
            from_there = base.__module__.startswith("sklearn") and inspect.isfunction(value)
            if from_there and not name.startswith("_") and not ROUTING.fullmatch(name):
                yield name, (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


def _fields(kind: type) -> str:
    """A record's fields: name, type, value where none is given, and the comment behind it."""
    comments = {match[1]: match[2] or "" for match in map(FIELD.match, inspect.getsource(kind).split("\n")) if match}
    lines = ["| field | type | unless given | |", "|---|---|---|---|"]
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        value = "" if field.default is dataclasses.MISSING else f"`{_value(field.default)}`"
        if field.default_factory is not dataclasses.MISSING:
            value = f"`{type(field.default_factory()).__name__}(...)`"
        kind_text = "" if field.type == "Any" else f"`{_type(field.type)}`"
        row = (f"`{field.name}`", kind_text, value, comments.get(field.name, ""))
        lines.append("| " + " | ".join(map(_cell, row)) + " |")
    return "\n".join(lines)


def _table(head: str, entries: dict[str, str]) -> str:
    rows = [f"| `{name}` | {_cell(text)} |" for name, text in entries.items()]
    return "\n".join([f"| {head} | what it is |", "|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _documented(thing: Any) -> str:
    """The docstring of an object; without one the page cannot be made."""
    text = inspect.getdoc(thing)
    if not text or isinstance(thing, ModuleType):
        raise ValueError(f"{thing!r} is in the reference but has no docstring")
    return text


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""

    def expand(app: Sphinx, docname: str, source: list[str]) -> None:
        source[0] = expanded(source[0])

    app.connect("source-read", expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
