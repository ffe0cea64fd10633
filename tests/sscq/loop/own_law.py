"""A law of a user's own."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OwnLaw:
    """No more settings than the protocol of a law asks for, and one gain; `law` is missing."""

    sample_time: float | None = None
    gain_names: tuple[str, ...] = ("size",)
    n_states: int = 0

    def initial(self):
        return ()

    def error_rate(self, r_rate, y_rate, c):
        return r_rate - y_rate
