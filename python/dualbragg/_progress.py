"""Progress of long work, if the caller has no function for it: a line on the terminal, or a cell of a notebook."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from . import errors

_PAUSE = 0.1  # s, between two lines


def function_of(progress: Any) -> Callable[[Any], Any] | None:
    """Return the function for a caller's `progress`: a function, True (shown), None or False (none)."""
    if progress is True:
        return Shown()
    if progress is None or progress is False:
        return None
    if not callable(progress):
        raise errors.UsageError(f"progress: expected a function or True, found {progress!r}")
    function: Callable[[Any], Any] = progress
    return function


def line_of(told: Any) -> tuple[str, float | None]:
    """Return a line about an event of a progress function, and the finished fraction, if it is known."""
    if isinstance(told, float):
        return f"{100 * told:.0f} %", told
    kind = getattr(told, "kind", "evaluated")
    if kind == "evaluated":
        number = f", evaluation {told.evaluation}" if hasattr(told, "evaluation") else ""
        return f"stage {told.stage + 1}{number}: target {told.target:.5g}", None
    if kind == "excluded":
        return f"{told.shot} is left out: {told.reason}", None
    return f"{told.what or kind}: {told.done} of {told.count} shots", told.done / told.count if told.count else None


class Shown:
    """Progress function that shows events, the last one in any case."""

    def __init__(self) -> None:
        self._shown, self._last, self._cell = 0.0, "", None
        self._width = 0

    def __call__(self, told: Any) -> None:
        self._last, fraction = line_of(told)
        if time.monotonic() - self._shown > _PAUSE:
            self._show(fraction)

    def _show(self, fraction: float | None) -> None:
        self._shown = time.monotonic()
        if _in_notebook():
            self._show_cell(fraction)
            return
        sys.stderr.write("\r" + self._last.ljust(self._width))
        sys.stderr.flush()
        self._width = len(self._last)

    def _show_cell(self, fraction: float | None) -> None:
        import html

        from IPython.display import HTML, display
        bar = "" if fraction is None else f'<progress value="{fraction:.4f}"></progress> '
        shown = HTML(f"{bar}{html.escape(self._last)}")
        if self._cell is None:
            self._cell = display(shown, display_id=True)
        else:
            self._cell.update(shown)

    def end(self, done: bool) -> None:
        """Show the last event, because the work has ended. done: True: without a failure."""
        if not self._last:
            return
        if done and self._last.endswith("%"):
            self._last = "100 %"
        self._show(None)
        if not _in_notebook():
            sys.stderr.write("\n")
        self._shown, self._last, self._cell, self._width = 0.0, "", None, 0


def _in_notebook() -> bool:
    """Return True in a kernel of Jupyter."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
