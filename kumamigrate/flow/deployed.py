"""Does a control plane have what the files say? An inventory knows, else what Git has committed."""

from __future__ import annotations

from kumamigrate.model.conf import canonical
from kumamigrate.model.resource import Resource
from kumamigrate.scene.outside import names_of
from kumamigrate.scene.scene import GIT_ASKED, Scene


def is_deployed(scene: Scene, resource: Resource) -> bool | None:
    """Say whether a resource of a scene is rolled out as it stands; None where nobody knows.

    What is committed is taken to be: whoever deploys from Git deploys that.
    """
    if scene.inventory:
        return any(
            resource.identity in names_of(one, scene.environment)
            and canonical(one.spec) == canonical(resource.spec)
            for one in scene.inventory
        )
    where, repository = resource.where, scene.repository
    if where is None or where.path not in repository.data:
        return None
    # Few rules ask, and what runs Git is slow to import.
    from kumamigrate.scene.gitrev import committed

    scene.kept[GIT_ASKED] = True
    head = committed(repository.root, where.path)
    return None if head is None else head == repository.data[where.path]
