"""What a 2.x control plane refuses of old policies (legacy-notes.md G5–G8).

A refused one stays in Git and takes no part.

Only what the control plane checks is checked: whom a policy is for in selectorchecks.py, what it
says in confchecks.py, as oldconf.py reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kumamigrate.dataclass import replace
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import SERVICE, Resource, sequence
from kumamigrate.sourcedest.confchecks import CHECKS
from kumamigrate.sourcedest.oldconf import conf_of, table
from kumamigrate.sourcedest.selector import ANY, tags_of
from kumamigrate.sourcedest.selectorchecks import selectors_refused


def accepted(policy: Resource, external_services: Iterable[Resource] = ()) -> bool:
    """Say whether a control plane takes the policy. Other types than old policies: yes."""
    return not refusals_of(policy) and not refusals_beside(policy, external_services)


def refusals_of(policy: Resource) -> tuple[Problem, ...]:
    """Return why a control plane refuses an old policy, by itself."""
    rules = table("selectors.json").get(policy.type)
    if rules is None:
        return ()
    conf = conf_of(policy)
    found = [
        p for field, rule in rules.items() for p in selectors_refused(policy.spec, field, rule)
    ]
    found.extend(conf.problems)
    check = CHECKS.get(policy.type)
    if check is not None and not conf.problems:
        found.extend(check(conf))
    return tuple(replace(p, path=(*policy.spec_path, *p.path)) for p in found)


def refusals_beside(policy: Resource, external_services: Iterable[Resource]) -> tuple[Problem, ...]:
    """Return why a control plane refuses a RateLimit beside ExternalServices (notes G8)."""
    if policy.type != "RateLimit":
        return ()
    names = {tags_of(es.spec.get("tags")).get(SERVICE) for es in external_services}
    if not names:
        return ()
    problems = []
    for index, item in enumerate(sequence(policy.spec.get("destinations"))):
        tags = tags_of(item.get("match")) if isinstance(item, Mapping) else {}
        if len(tags) > 1 and SERVICE in tags and (tags[SERVICE] == ANY or tags[SERVICE] in names):
            problems.append(
                Problem(
                    path=("destinations", index, "match"),
                    message="reaches an ExternalService, so only kuma.io/service may be matched",
                )
            )
    return tuple(problems)
