"""What each form of text lets pass and what not, at the borders of its rule.

A doubtful text passes, so a form may be wider than Kuma's validator and never narrower.
"""

from __future__ import annotations

import pytest

from kumamigrate.admit.form import FORMS

_63, _64 = "a" * 63, "a" * 64
_253 = ".".join(["a" * 62] * 4) + ".b"
_254 = _253 + "b"
_255 = ".".join(["a" * 63] * 4)  # 252 letters and three dots
_PEM = "-----BEGIN {}-----\nQUJD\n-----END {}-----"

TEXTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "absolute": (("/", "/a"), ("", "a", "a/")),
    "address": (
        ("a.bc", "a:80", "http://abc", "user@a.bc:80/x?y#z", "[::1]:8080", "tcp://a_b-c.d"),
        ("", "a.b", "abcd", ".abcd", "a b.cd", "a.bc:123456", "gopher://a.b", "a.bc:x"),
    ),
    "address-or-name": (
        ("a", "10.0.0.1", "::1", "a_b.c"),
        ("", "0.0.0.0", "::", "a b", "-a", "a..b"),
    ),
    "bandwidth": (
        ("10bps", "10 kbps", "1Mbps", "1Gbps", "bps"),
        ("", "10", "10  bps", "10Tbps", "10kbit", "a10bps"),
    ),
    "certificate": (
        (_PEM.format("CERTIFICATE", "CERTIFICATE"), "# ours\n" + _PEM.format("A", "A")),
        ("", "QUJD", "-----BEGIN CERTIFICATE-----", _PEM.format("RSA PRIVATE KEY", "A")),
    ),
    "cidr": (("10.0.0.0/8", "10.0.0.1/8", "::/0"), ("", "10.0.0.1", "10.0.0.0/33", "a/8", "/8")),
    "datadog-url": (
        ("http://a:1", "http://a:65535", "http://:8126"),
        ("http://a", "https://a:1", "http://a:0", "http://a:65536", "http://a:1/x", "a:1"),
    ),
    "dns-name": (
        ("a", "a.b.", "a_b", "A", _63, _255),
        ("", "10.0.0.1", "a..b", "-a", ".a", _64, _255 + ".aaaa"),
    ),
    "domain": (
        ("*", "*.a", "a", "a.b.", "A_b", _63, _253),
        ("", "*a", "a.*", "-a", _64, _253 + ".aa"),
    ),
    "file-path": (("/", "/a/b", "/a/b/", "C:\\a"), ("", "a", "./a", "a\x00", "/a\x00")),
    "go-ip": (("10.0.0.1", "::1"), ("", "a", "fe80::1%eth0", "10.0.0.256")),
    "host-name": (("a", "a.b-c", _253), ("", "10.0.0.1", "A", "a_b", "a.", "-a", "a-", _254)),
    "host-port": (("a:1", "[::1]:1", "a:http"), ("", "a", "a:", ":1", "::1:1", "[::1]", "[]:1")),
    "host-port-number": (
        ("a:1", "a:65535", "[::1]:80", "10.0.0.1:80"),
        ("", "a", "a:0", "a:65536", "a:http", "[a b]:1", "a..b:1"),
    ),
    "ip": (("10.0.0.1", "::1", "fe80::1%eth0"), ("", "a", "10.0.0", "10.0.0.256", "10.0.0.1/8")),
    "label-name": (
        ("a", "A.b_c-d", _63, "x/a", f"{_253}/a"),
        ("", _64, "-a", "a-", "/a", "x/", "x/y/z", "X/a", f"{_254}/a"),
    ),
    "label-value": (("", "a", "A.b_c-d", _63), (_64, "-a", "a-", "a b", "x/a")),
    "mapping-text": (("", " \n", "a: b", "{}", "{ab"), ("a", "- a", "12")),
    "letters-and-digits": (("a", "A1"), ("", "a-b", "é", "a b")),
    "listener-host": (
        ("*", "*.a", "a", "a.b-c", _253),
        ("", "*.", "*a", "a.*", "*.*.a", "A", "a_b", _254),
    ),
    "long-duration": (
        ("0", "1y", "2w", "3d", "4h", "5m", "6s", "7ms"),
        ("", "1", "00", "1.5h", "1h30m", "-1h", "1 h", "1us"),
    ),
    "no-trailing-slash": (("/", "a", "/a", ""), ("/a/", "a/", "//")),
    "no-slash-at-end": (("a", "/a", ""), ("/", "/a/")),
    "otel-path": (("", "/", "/a/b"), ("a", "/a?b", "/a#b", "?")),
    "reference-name": (("", "a", "a.b-c_d", "0"), ("A", "a/b", "a b")),
    "regex": (
        ("", "a(b|c)*", "\\(", "[(]", "[^)]", "[](]", "\\*a", "a+?"),
        ("(", "a)", "*a", "+a", "?a", "(()", "[)"),
    ),
    "request-uri": (("*", "/", "/a?b", "http://a"), ("", "a", "a/b", "**")),
    "retry-on": (
        ("5xx", "http3postConnectFailure", "HttpMethodTrace", "100", "226", "418", "511"),
        ("", "5XX", "HttpMethod", "HttpMethodGET", "Retriable5xx", "104", "225", "419", "512"),
    ),
    "spiffe": (
        ("spiffe://a", "spiffe://a/", "spiffe://a.b_c-d/ns/x/sa/Y.z", "spiffe://a/..b"),
        ("", "a", "spiffe://", "spiffe://A", "spiffe://a//b", "spiffe://a/../b", "spiffe://a/.",
         "spiffe://a/b c"),
    ),
    "tag-name": (("a", "A.b/c_d:e-f"), ("", "a b", "*", "é")),
    "tag-pattern": (("", "*", "a/b"), ("**", "a*", "a b")),
    "tag-text": (("", "A.b:c_d-e"), ("*", "a/b", "a b")),
    "tag-value": (("a", "A.b:c_d-e"), ("", "*", "a/b", "a b")),
    "tag-value-or-any": (("*", "a", "a/b"), ("", "**", "a b")),
    "text": (("a", " "), ("",)),
    "url-with-port": (
        ("http://a:1", "tcp://a:1/x?y", "x+y.z-1://u@a:1", "http://[::1]:1", "http://:1"),
        ("", "a:1", "http://a", "http://a:", "http://a:x", "1://a:1", "http://a b:1"),
    ),
    "wildcard": (("*", "*a"), ("", "a*")),
}  # fmt: skip


def test_every_form_is_asked() -> None:
    assert TEXTS.keys() == FORMS.keys()


@pytest.mark.parametrize("form", sorted(TEXTS))
def test_a_form_lets_pass_what_it_says(form: str) -> None:
    good, bad = TEXTS[form]
    assert [text for text in good if not FORMS[form](text)] == []
    assert [text for text in bad if FORMS[form](text)] == []


def test_a_status_is_a_condition_of_a_retry_where_it_has_a_name() -> None:
    names = {text for text in map(str, range(100, 600)) if FORMS["retry-on"](text)}
    named = [(100, 103), (200, 208), (226, 226), (300, 308), (400, 418), (421, 426), (428, 429)]
    named += [(431, 431), (451, 451), (500, 508), (510, 511)]
    assert names == {str(n) for first, last in named for n in range(first, last + 1)}
