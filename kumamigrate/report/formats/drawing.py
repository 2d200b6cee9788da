"""The picture of which policies reach which proxies, as SVG that a script can search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from kumamigrate.report.formats.elements import element
from kumamigrate.report.formats.headline import counted

Picture = Mapping[str, Any]
Reach = tuple[int, int, str]
ROW = 22
TOP = 30
WIDTH = 1100
LEFT, RIGHT = 470, 700
MOST_LETTERS = 58
MOST_LINES = 2_000
"""So many unchanged connections are drawn; all are listed on a click."""


def drawing(picture: Picture) -> Element:
    """Return the picture of one mesh: policies left, proxies right, lines between them."""
    policies, proxies = picture["policies"], picture["proxies"]
    reach = [(p, x, how) for p, x, how in picture["reach"]]
    height = TOP + ROW * max(len(policies), len(proxies)) + 10
    titles = (
        element("text", "policies", x=str(LEFT), y="16", cls="title right"),
        element("text", "proxies", x=str(RIGHT), y="16", cls="title"),
    )
    return element(
        "svg",
        *titles,
        *_lines(reach),
        *_policies(policies, reach),
        *_proxies(proxies, reach),
        viewBox=f"0 0 {WIDTH} {height}",
        width=str(WIDTH),
        height=str(height),
        role="img",
        aria_label="which policies reach which proxies",
    )


def _lines(reach: Sequence[Reach]) -> Iterator[Element]:
    changed = [one for one in reach if one[2] != "same"]
    same = [one for one in reach if one[2] == "same"]
    for policy, proxy, how in (*same[:MOST_LINES], *changed):
        start, end = _middle(policy), _middle(proxy)
        bend = (LEFT + RIGHT) // 2
        path = f"M{LEFT + 8} {start} C{bend} {start} {bend} {end} {RIGHT - 8} {end}"
        yield element(
            "path", d=path, cls=f"line {how}", data_policy=str(policy), data_proxy=str(proxy)
        )


def _policies(policies: Sequence[Mapping[str, Any]], reach: Sequence[Reach]) -> Iterator[Element]:
    reached = _by(reach, own=0, other=1)
    for at, one in enumerate(policies):
        words = f"{one['type']} {one['name']}"
        tip = f"{words}\n{one['change']}\n{one['at']}".rstrip()
        yield _node(at, "policy", one["change"], words, tip, reached[at], LEFT)


def _proxies(proxies: Sequence[Mapping[str, Any]], reach: Sequence[Reach]) -> Iterator[Element]:
    reached = _by(reach, own=1, other=0)
    for at, one in enumerate(proxies):
        names = one["names"]
        more = f" (+{len(names) - 1})" if len(names) > 1 else ""
        number = f"{one['number']} × " if one["number"] > 1 else ""
        changed = any(how != "same" for _, how in reached[at])
        tip = "\n".join(
            [*names, {"madeUp": "made up: no such proxy is known"}.get(one["kind"], "")]
        )
        state = "changed" if changed else "same"
        words = f"{number}{names[0]}{more}"
        yield _node(at, f"proxy {one['kind']}", state, words, tip, reached[at], RIGHT)


def _node(
    at: int,
    kind: str,
    state: str,
    words: str,
    tip: str,
    reached: Sequence[tuple[int, str]],
    x: int,
) -> Element:
    y = _middle(at)
    side = "right" if x == LEFT else ""
    shown = words if len(words) <= MOST_LETTERS else f"{words[: MOST_LETTERS - 1]}…"
    dot = element("circle", cx=str(x), cy=str(y), r="5")
    offset = -12 if x == LEFT else 12
    label = element("text", shown, x=str(x + offset), y=str(y + 4), cls=side)
    return element(
        "g",
        element("title", tip),
        dot,
        label,
        cls=f"node {kind} {state}",
        tabindex="0",
        role="button",
        data_at=str(at),
        data_words=" ".join(tip.split("\n")).lower(),
        data_before=" ".join(str(other) for other, how in reached if how != "new"),
        data_after=" ".join(str(other) for other, how in reached if how != "gone"),
    )


def _by(reach: Sequence[Reach], *, own: int, other: int) -> Mapping[int, list[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for one in reach:
        mine, its = (one[own], one[other])
        assert isinstance(mine, int)
        assert isinstance(its, int)
        found[mine].append((its, one[2]))
    return found


def _middle(at: int) -> int:
    return TOP + ROW * at + ROW // 2


def reach(report: Mapping[str, Any]) -> Iterator[Element]:
    """Yield a picture for each mesh that has policies."""
    for number, picture in enumerate(report.get("pictures", ())):
        if picture["policies"]:
            yield _mesh(picture, number)


def _mesh(picture: Mapping[str, Any], number: int) -> Element:
    where = f" in {picture['environment']}" if picture["environment"] else ""
    choices = []
    for at, (word, said) in enumerate(
        (("both", "before and after"), ("before", "before"), ("after", "after"))
    ):
        radio = element("input", type="radio", name=f"side-{number}", value=word)
        if at == 0:
            radio.set("checked", "checked")
        choices.append(element("label", radio, f" {said}"))
    search = element("input", type="search", placeholder="Find a policy or a proxy")
    left = picture["left"]
    more = [counted(left[k], one, many) for k, one, many in
            (("policies", "policy", "policies"), ("proxies", "kind of proxies", "kinds of proxies"))
            if left[k]]  # fmt: skip
    hint = (
        "Click a policy or a proxy. Red dashes: no longer reached; green: reached from now on."
        " Names in italics are made up, for selectors that choose none of the proxies known. Whom a"
        " policy reaches need not feel it: what anybody feels stands in the proof."
    )
    return element(
        "section",
        element("h3", f"Mesh {picture['mesh']}{where}"),
        element("div", search, *choices, cls="tools hidden"),
        element("div", drawing(picture), cls="picture"),
        element("div", hint, cls="chosen"),
        element("p", f"Not drawn: {' and '.join(more)} of which nothing changes", cls="dim")
        if more
        else None,
        cls="mesh",
    )
