"""The page, read by a parser and by a browser of their own."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pytest

from kumamigrate.report.formats.html import html
from kumamigrate.report.formats.safemarkdown import safe
from tests.frontdoor import command
from tests.reports.handmade import HOSTILE, named

FILES = {
    "mesh.yaml": """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
""",
    "proxies.yaml": "---\n".join(
        f"""type: Dataplane
name: {name}
mesh: default
labels: {{app: {app}}}
networking:
  address: 192.0.2.{at}
  inbound: [{{port: 80, tags: {{kuma.io/service: {app}, app: {app}}}}}]
"""
        for at, (name, app) in enumerate((("web-1", "web"), ("web-2", "web"), ("pay-1", "pay")), 1)
    ),
    "timeouts.yaml": """type: MeshTimeout
name: inbound
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]
---
type: MeshTimeout
name: nobody
mesh: default
spec:
  targetRef: {kind: MeshSubset, tags: {app: none}}
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 9s}}]
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def read(text: str) -> Element:
    """Return the page as a browser takes it; what a browser would have to mend is raised."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    root: Element = parser.parse(text)
    return root


def text_of(root: Element) -> str:
    return "".join(root.itertext())


def all_of(root: Element, tag: str) -> Iterator[Element]:
    return (one for one in root.iter() if str(one.tag).rsplit("}", 1)[-1] == tag)


def of_class(root: Element, *names: str) -> list[Element]:
    return [one for one in root.iter() if set(names) <= set((one.get("class") or "").split())]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_and_mean_nothing(name: str) -> None:
    root = read(html(named(name)))
    assert [len(list(all_of(root, tag))) for tag in ("script", "style", "h1", "svg")] == [
        1,
        1,
        1,
        1,
    ]
    assert not list(all_of(root, "img"))
    for one in root.iter():
        assert not [key for key in one.keys() if key.lower().startswith("on")]  # noqa: SIM118
    shown = safe(name.replace("\n", " ")) if "\n" in name else safe(name)
    assert shown.split(" ")[0] in text_of(root)


def test_the_page_needs_no_network_and_runs_nothing_but_its_own(folder: Path) -> None:
    root = read(page_of(folder))
    links = [v for one in root.iter() for k, v in one.items() if k in ("src", "href", "action")]
    assert links
    assert all(link.startswith("#") for link in links)
    (style,), (script,) = (list(all_of(root, tag)) for tag in ("style", "script"))
    assert not re.search(r"url\(|@import|https?:", text_of(style) + text_of(script))
    (policy,) = [m.get("content") for m in all_of(root, "meta") if m.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for kind, one in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(text_of(one).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [one for one in root.iter() if one.get("style")]


def page_of(folder: Path, *words: str) -> str:
    return command("run", folder, "--dry-run", "--target", "3.0", "--format", "html", *words).out


def test_the_page_says_what_the_report_says(folder: Path) -> None:
    root = read(page_of(folder))
    told = text_of(root)
    assert "Would change 2 files" in text_of(next(all_of(root, "h1")))
    assert "What proxies read after the upgrade is what they read before it: equivalent" in told
    assert "from-section: 1 place" in told
    assert "+  rules:" in told  # the diff
    assert f"kumamigrate run --target 3.0 --dry-run --initial-policies none {folder}" in told


def test_the_picture_shows_who_reaches_whom(folder: Path) -> None:
    root = read(page_of(folder))
    policies = {title(one): one for one in of_class(root, "policy")}
    proxies = {title(one): one for one in of_class(root, "proxy")}
    assert set(policies) == {"MeshTimeout inbound", "MeshTimeout nobody"}
    assert set(proxies) == {"web-1 and 1 more", "pay-1", "any proxy with app=none"}
    assert len(of_class(root, "madeUp")) == 1
    (web, nobody) = (proxies[n] for n in ("web-1 and 1 more", "any proxy with app=none"))
    inbound = policies["MeshTimeout inbound"]
    assert "changed" in str(inbound.get("class")).split()
    assert inbound.get("data-before") == inbound.get("data-after") == web.get("data-at")
    other = policies["MeshTimeout nobody"]
    assert other.get("data-after") == nobody.get("data-at")
    assert len(of_class(root, "line", "same")) == 2


def title(node: Element) -> str:
    return text_of(next(all_of(node, "title"))).split("\n")[0]


def test_who_is_reached_before_and_after_is_told_apart(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    after = tmp_path_factory.mktemp("after") / "state"
    shutil.copytree(folder, after)
    text = (after / "timeouts.yaml").read_text()
    (after / "timeouts.yaml").write_text(text.replace("app: web", "app: pay"))
    answer = command("prove", folder, after, "--format", "html")
    root = read(answer.out)
    assert answer.code == 4
    lines = {how: of_class(root, "line", how) for how in ("gone", "new")}
    (gone,), (new,) = lines["gone"], lines["new"]
    assert gone.get("data-policy") == new.get("data-policy")
    proxies = {one.get("data-at"): title(one) for one in of_class(root, "proxy")}
    assert proxies[gone.get("data-proxy")] == "web-1 and 1 more"
    assert proxies[new.get("data-proxy")] == "pay-1"


def test_old_policies_are_in_the_picture(tmp_path: Path) -> None:
    old = """---
type: Timeout
name: old
mesh: default
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {connectTimeout: 9s}
"""
    mesh = FILES["mesh.yaml"].replace("Exclusive", "Disabled")
    (tmp_path / "a.yaml").write_text(f"{mesh}---\n{FILES['proxies.yaml']}{old}")
    root = read(command("prove", tmp_path, tmp_path, "--format", "html").out)
    (policy,) = of_class(root, "policy")
    proxies = {one.get("data-at"): title(one) for one in of_class(root, "proxy")}
    assert title(policy) == "Timeout old"
    assert [proxies[at] for at in str(policy.get("data-after")).split()] == ["web-1 and 1 more"]


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture
def browser() -> Iterator[Any]:
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield started
        started.close()


def test_a_browser_searches_and_clicks(folder: Path, tmp_path: Path, browser: Any) -> None:
    file = tmp_path / "page.html"
    file.write_text(page_of(folder))
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.fill("input[type=search]", "pay")
    assert page.locator(".node:not(.dimmed) text").all_text_contents() == ["pay-1 (+1)"]
    page.fill("input[type=search]", "")
    page.locator(".node.policy", has_text="MeshTimeout inbound").click()
    told = page.locator(".chosen").inner_text()
    assert "reaches:" in told
    assert "web-1 and 1 more" in told
    assert "pay-1" not in told
    assert page.locator(".node.proxy.dimmed").count() == 2
    page.locator("input[value=before]").check()
    page.locator(".node.policy", has_text="MeshTimeout inbound").press("Enter")  # and off again
    assert page.locator(".node.dimmed").count() == 0
    assert (said, asked) == ([], [file.as_uri()])


def test_a_browser_runs_nothing_that_a_name_says(tmp_path: Path, browser: Any) -> None:
    page = browser.new_page()
    met: list[str] = []
    page.on("dialog", lambda dialog: (met.append(dialog.message), dialog.dismiss()))
    for at, name in enumerate(HOSTILE):
        file = tmp_path / f"{at}.html"
        file.write_text(html(named(name)))
        page.goto(file.as_uri())
        page.locator(".node.policy").click()
        page.locator(".node.policy").hover()
        assert met == [], name
