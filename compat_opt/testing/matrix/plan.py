"""From releases and a choice of targets to cells."""

import collections

from compat_opt.env import detect, read_environment
from compat_opt.errors import CommandError
from compat_opt.testing.matrix.releases import HERE, Release

#: What stands for the target of a class that brings its own base class.
OWN = "own"


class Cell(collections.namedtuple("Cell", "release target is_default")):
    """One release and one target.

    Attributes:
        release: a `Release`.
        target: ``namespace:generation``, or "own".
        is_default: whether ``tf.keras.Model.compile`` takes this target's optimizers there.
    """

    __slots__ = ()

    @property
    def label(self):
        """``2.10 tf.keras:optimizer_v2``."""
        return "%s %s" % (self.release.name, self.target)


def detection(release):
    """What `release` offers, before its environment is made."""
    return detect(read_environment() if release.name == HERE else release.record())


def make_cells(releases, wanted=None, has_targets=True):
    """The cells, in the order of the releases.

    Args:
        releases: a list of `Release`.
        wanted: None for all targets, or names: a generation, a namespace, ``namespace:generation``,
            or "default".
        has_targets: False for a subject that is a class of its own: one cell a release.

    Raises:
        CommandError: no release has any of these targets.
    """
    assert all(isinstance(release, Release) for release in releases)
    cells, seen = [], []
    for release in releases:
        found = detection(release)
        if not has_targets:
            cells.append(Cell(release, OWN, True))
            continue
        for target in found.targets:
            is_default = target == found.default
            names = {target.key, target.namespace, target.generation} | ({"default"} if is_default else set())
            seen.extend(sorted(names))
            if not wanted or names & set(wanted):
                cells.append(Cell(release, target.key, is_default))
    if not cells:
        raise CommandError(
            "No release that was chosen has such a target.",
            "one of %s" % ", ".join(sorted(set(seen))) if seen else "a release with a target",
            "--target %s" % ", ".join(wanted or ()),
        )
    return cells
