"""When what happened to one request, with vLLM's names."""

from dataclasses import dataclass
from time import monotonic


@dataclass
class RequestMetrics:
    """Times of one request, in seconds of `time.monotonic()`; None for what has not happened yet."""

    arrival_time: float | None = None
    first_scheduled_time: float | None = None
    first_token_time: float | None = None
    finished_time: float | None = None

    @property
    def time_to_first_token(self) -> float | None:
        """Seconds from the request's arrival to its first token."""
        if self.arrival_time is None or self.first_token_time is None:
            return None
        return self.first_token_time - self.arrival_time

    def arrived(self) -> None:
        self.arrival_time = monotonic()

    def scheduled(self) -> None:
        self.first_scheduled_time = self.first_scheduled_time or monotonic()

    def got_token(self) -> None:
        self.first_token_time = self.first_token_time or monotonic()

    def finished(self) -> None:
        self.finished_time = monotonic()
