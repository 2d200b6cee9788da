"""A snapshot of a control plane, global or zone, through its read API.

Only the control plane that was named is asked: redirects are not followed, and of the link to the
next page only the offset counts, so that a token reaches nobody else.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from kumamigrate.dataclass import dataclass, field
from kumamigrate.errors import UsageError
from kumamigrate.model.kinds import GLOBAL_SCOPED, MESH_SCOPED
from kumamigrate.model.release import known_releases, release
from kumamigrate.snapshot.configkinds import PATHS, is_wanted

SECONDS = 60
PAGE = 1000
"""The largest page that the read API gives."""

_LOCAL = ("localhost", "127.0.0.1", "::1")

Get = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """Where a control plane answers, and how to show who asks."""

    url: str
    token: str = field(default="", repr=False)
    ca_file: Path | None = None

    @property
    def name(self) -> str:
        """Return what it is called in a snapshot: its host."""
        return urlsplit(self.url).netloc.rpartition("@")[2]


class _MissingError(Exception):
    """There is nothing at an address (404)."""


class _ForbiddenError(UsageError):
    """The control plane does not let us read something."""


def resources_of(plane: ControlPlane) -> Iterator[dict[str, Any]]:
    """Yield every resource of the control plane that belongs in an inventory, kind by kind.

    Raises UsageError for whatever keeps one from being read whole.
    """
    get = _getter(plane)
    for kind, path in _kinds(plane, get):
        try:
            yield from _pages(plane, get, path)
        except (_MissingError, _ForbiddenError) as error:
            if kind in _known():
                what = "there is no list of" if isinstance(error, _MissingError) else f"{error};"
                raise UsageError(f"{plane.url}: {what} {kind}") from error


def _known() -> frozenset[str]:
    policies = {kind for name in known_releases() for kind in release(name).policy_types}
    return MESH_SCOPED | GLOBAL_SCOPED | policies


def _kinds(plane: ControlPlane, get: Get) -> list[tuple[str, str]]:
    """Return the kinds with their paths; old control planes list their policies only."""
    try:
        listed = _json(plane, get("_resources")).get("resources")
        fixed: Mapping[str, str] = {}
    except _MissingError:
        try:
            listed = _json(plane, get("policies")).get("policies")
        except _MissingError as error:
            raise UsageError(
                f"{plane.url}: this is no read API of a control plane; its port is 5681, or 5682"
                " with TLS"
            ) from error
        fixed = PATHS
    if not isinstance(listed, list):
        raise UsageError(f"{plane.url}: the control plane does not say which kinds it has")
    told = [one for one in listed if isinstance(one, dict) and one.get("path")]
    found = {**fixed, **{str(one.get("name")): str(one["path"]) for one in told}}
    return [(kind, path) for kind, path in sorted(found.items()) if is_wanted(kind)]


def _pages(plane: ControlPlane, get: Get, path: str) -> Iterator[dict[str, Any]]:
    offset, seen, number = "", set[str](), 0
    while True:
        query = {"size": str(PAGE), **({"offset": offset} if offset else {})}
        page = _json(plane, get(f"{quote(path)}?{urlencode(query)}"))
        items, total = page.get("items"), page.get("total")
        if items is not None and not isinstance(items, list):
            raise UsageError(f"{plane.url}/{path}: the answer is no list")
        for item in items or ():
            if not isinstance(item, dict):
                raise UsageError(f"{plane.url}/{path}: the list holds what is no resource")
            number += 1
            yield item
        if not page.get("next"):
            break
        offset = _offset(page["next"])
        if not offset or offset in seen:
            raise UsageError(f"{plane.url}/{path}: the pages of the list do not come to an end")
        seen.add(offset)
    if isinstance(total, int) and number < total:
        raise UsageError(
            f"{plane.url}/{path}: only {number} of {total} resources came; take the snapshot again"
        )


def _offset(link: object) -> str:
    found = parse_qs(urlsplit(str(link)).query).get("offset")
    return found[0] if found else ""


def _json(plane: ControlPlane, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as error:
        page = data.lstrip()[:1] == b"<"
        what = "a page for browsers, most likely one to log in with" if page else "no JSON"
        raise UsageError(f"{plane.url}: the answer is {what}; is this the read API?") from error
    if not isinstance(value, dict):
        raise UsageError(f"{plane.url}: the answer is no object; is this the read API?")
    return value


def _getter(plane: ControlPlane) -> Get:
    """Return what asks the control plane for a path below its address."""
    base = urlsplit(plane.url)
    if base.scheme not in ("http", "https") or not base.hostname:
        raise UsageError(f"--control-plane {plane.url}: write http://… or https://…")
    handlers: list[Any] = [_NoRedirect()]
    if base.hostname in _LOCAL:
        handlers.append(urllib.request.ProxyHandler({}))
    if base.scheme == "https":
        handlers.append(urllib.request.HTTPSHandler(context=_context(plane)))
    opener = urllib.request.build_opener(*handlers)
    headers = {"Accept": "application/json"}
    if plane.token:
        headers["Authorization"] = f"Bearer {plane.token}"

    def get(path: str) -> bytes:
        request = urllib.request.Request(f"{plane.url.rstrip('/')}/{path}", headers=headers)
        try:
            with opener.open(request, timeout=SECONDS) as answer:
                data: bytes = answer.read()
                return data
        except urllib.error.HTTPError as error:
            raise _refused(plane, path, error) from error
        except (urllib.error.URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise UsageError(f"{plane.url}: {_words(reason)}") from error
        except Exception as error:  # http.client raises its own kinds for half answers
            raise UsageError(f"{plane.url}/{path}: the answer broke off ({error})") from error

    return get


def _context(plane: ControlPlane) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=plane.ca_file)
    except OSError as error:
        raise UsageError(f"--ca-file {plane.ca_file}: {error.strerror or error}") from error


def _words(reason: object) -> str:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({reason.verify_message}); give --ca-file"
    if isinstance(reason, TimeoutError):
        return f"no answer within {SECONDS} seconds"
    return str(getattr(reason, "strerror", None) or reason)


def _refused(plane: ControlPlane, path: str, error: urllib.error.HTTPError) -> Exception:
    if error.code == 404:
        return _MissingError(path)
    said = f"{plane.url}/{path.partition('?')[0]}: {error.code} {_detail(error)}".rstrip()
    if error.code in (401, 403):
        more = "" if plane.token else "; give a token with --token"
        return _ForbiddenError(f"{said}{more}")
    if 300 <= error.code < 400:
        return UsageError(f"{said}: it redirects, and a token must not go elsewhere")
    return UsageError(said)


def _detail(error: urllib.error.HTTPError) -> str:
    """Return what the control plane says is wrong, in its own words."""
    try:
        told = json.loads(error.read())
    except (OSError, ValueError):
        return str(error.reason)
    words = [told.get(key) for key in ("title", "detail")] if isinstance(told, dict) else []
    return ": ".join(word for word in words if isinstance(word, str) and word) or str(error.reason)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow no redirect: the answer is what it is, an error."""
        return
