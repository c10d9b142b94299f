"""When a request is sent again, and after how long. Pure: what happened goes in, a wait comes out.

A request is repeated only where that cannot move money twice: because nothing was done the first time, or because
doing it again is the same (a read, a POST under an Idempotency-Key, a PUT).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from .generated.shared import LASTING, NOTHING_DONE


@dataclass(frozen=True)
class Outcome:
    """What became of one try."""

    status: int | None = None  # None: no whole answer came
    code: str = ""
    retry_after: int | None = None
    was_sent: bool = True  # whether the gateway may have got it


@dataclass(frozen=True)
class Policy:
    """How often and how patiently a request is repeated."""

    max_retries: int = 2
    first_wait: float = 0.5
    longest_wait: float = 8.0
    longest_retry_after: int = 30  # beyond it the caller decides: the error says `retry_after`

    def wait(self, tries: int, outcome: Outcome, repeatable: bool, chance: Callable[[], float] = random.random) -> float | None:
        """Seconds to wait before the next try, after `tries` of them; None when the outcome stands."""
        if tries > self.max_retries or not worth_repeating(outcome, repeatable):
            return None
        if outcome.retry_after is not None and outcome.retry_after > self.longest_retry_after:
            return None
        # Half of the wait is by chance, so that many clients do not come back at once.
        wait: float = min(self.longest_wait, self.first_wait * 2.0 ** (tries - 1)) * (0.5 + chance() / 2)
        return max(wait, outcome.retry_after or 0)


def worth_repeating(outcome: Outcome, repeatable: bool) -> bool:
    """Whether a request may be sent again, and whether that helps."""
    if outcome.status is None:
        return repeatable or not outcome.was_sent
    if outcome.code in NOTHING_DONE or outcome.status == 429:
        return True
    if outcome.status == 409:  # the first request with this key is under way
        return repeatable and outcome.code == "idempotency_in_progress"
    if outcome.status == 503 and outcome.code in LASTING:
        return repeatable and outcome.retry_after is not None
    return repeatable and outcome.status in (500, 502, 503, 504)
