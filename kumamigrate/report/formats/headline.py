"""The headline of Markdown and the page (the terminal has its own: `screen/changeblock`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumamigrate.model.versions import step_to
from kumamigrate.prover.claimed import COMPARED, LIVE
from kumamigrate.report.formats.differences import decides, differences, proof_of
from kumamigrate.report.formats.findings import open_findings
from kumamigrate.report.screen.difftext import BUT_WHAT_STARTS

Report = Mapping[str, Any]
GOOD, WARN, BAD = "good", "warn", "bad"


def headline(report: Report) -> tuple[str, str]:
    """Return how good it is, and the sentence."""
    if report["schema"].startswith("kumamigrate.proof/"):
        return _of_proof(report)
    return _of_run(report) if "whole" in report else _of_check(report)


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def scope(report: Report) -> str:
    """Return the releases, and how much there is."""
    proof = proof_of(report)
    before = report.get("from") or proof["release"]["before"]
    after = report.get("target") or proof["release"]["after"]
    kuma = f"Kuma {before}" if before == after else f"Kuma {before} → {after}"
    files = counted(report["coverage"]["files"], "file")
    return f"{kuma} · {counted(report['coverage']['kuma'], 'resource')} in {files}"


def _of_proof(report: Report) -> tuple[str, str]:
    claim = decides(report)
    verdict = proof_of(report)["claims"].get(claim, {}).get("allowing", "equivalent")
    about = COMPARED[claim]
    if verdict == "equivalent":
        return GOOD, f"Equivalent: {about} stays as it is {_for_whom(report)}"
    if verdict == "unknown":
        return WARN, f"Cannot tell whether {about} stays as it is"
    return BAD, f"Different: {about}, {counted(_number(report), 'difference')}"


def _of_check(report: Report) -> tuple[str, str]:
    found = sum(1 for entry, _ in open_findings(report) if entry["danger"] != "advice")
    if not found:
        return GOOD, f"Nothing to do for Kuma {report['target']}"
    return WARN, f"{counted(found, 'finding')} for Kuma {report['target']}"


def _of_run(report: Report) -> tuple[str, str]:
    files = counted(len(report["files"]), "file")
    done = f"{'Changed' if report['written'] else 'Would change'} {files}"
    upgrade = step_to(report["target"], report["from"])
    whole = report["whole"]
    if whole == "different":
        today = decides(report) == LIVE
        what = "what proxies read today changes" if today else f"{upgrade} is not safe yet"
        return BAD, f"{done}; {what}: {counted(_number(report), 'difference')}"
    if whole == "after-switch":
        return BAD, f"{done}; safe only after the switch to MeshService mode Exclusive"
    if whole == "unknown":
        about = "a live value changes" if decides(report) == LIVE else f"{upgrade} is safe"
        return WARN, f"{done}; cannot tell whether {about}"
    return _proven(report, done)


def _proven(report: Report, done: str) -> tuple[str, str]:
    held = sum(1 for entry, _ in open_findings(report) if entry["status"] == "held")
    left = f"; {counted(held, 'place')} held back" if held else ""
    if report["files"]:
        upgrade = (
            "" if decides(report) == LIVE else f" with {step_to(report['target'], report['from'])}"
        )
        same = f"no live value changes{upgrade} {_for_whom(report)}{_but(report)}"
        return GOOD, f"{done}; {same}{left}"
    left_over = sum(1 for entry, _ in open_findings(report) if entry["danger"] != "advice")
    if left_over:
        return WARN, f"Nothing to write for Kuma {report['target']}; {left_over} to look at"
    return GOOD, f"Nothing to change for Kuma {report['target']}"


def _but(report: Report) -> str:
    listed = proof_of(report)["claims"].get(decides(report), {}).get("dataplanes", {}).values()
    told = (witness["effect"] for proxy in listed for witness in proxy["witnesses"])
    return BUT_WHAT_STARTS if "activation" in told else ""


def _for_whom(report: Report) -> str:
    """Say which proxies a verdict is about. Where none is listed, only its limits can be named."""
    proof = proof_of(report)
    if proof.get("proxies", "all") == "all":
        return "for any proxy that these files allow for"
    listed = proof["claims"].get(decides(report), {}).get("dataplanes", {}).values()
    made_up = all(proxy.get("madeUp") for proxy in listed)
    return "within the limits below" if made_up else "for the proxies listed"


def _number(report: Report) -> int:
    """Return how many differences count against the claim that decides."""
    allowed = proof_of(report).get("allow", [])
    return sum(1 for one in differences(report) if one.effect not in allowed)
