"""The objects that calls take and answer."""

from .generated.models import *  # noqa: F403
from .generated.models import __all__ as __all__
