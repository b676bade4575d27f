"""The build backend of the Python package: scikit-build-core, after fetching what is linked privately.

In an sdist the sources lie there already, so that it builds with the network blocked."""

import sources
from scikit_build_core import build as scikit
from scikit_build_core.build import *  # noqa: F403


def build_sdist(*arguments, **options):
    sources.fetch()
    return scikit.build_sdist(*arguments, **options)


def build_wheel(*arguments, **options):
    sources.fetch()
    return scikit.build_wheel(*arguments, **options)


def build_editable(*arguments, **options):
    sources.fetch()
    return scikit.build_editable(*arguments, **options)
