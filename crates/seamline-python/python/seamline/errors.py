"""The exceptions of the package. A broken conversation is never an exception: it is a finding."""

from __future__ import annotations


class SeamlineError(Exception):
    """An operation could not do what was asked. `hint` says what to do, if there is one thing to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[type[SeamlineError], tuple[str, str | None]]:
        return (type(self), (self.message, self.hint))


class InputError(SeamlineError, TypeError):
    """The given object cannot be written as JSON: a cycle, a value without a JSON form, a getter that fails."""


class BodyError(SeamlineError, ValueError):
    """The given body is not JSON, or not a conversation."""


class OptionError(SeamlineError, ValueError):
    """An option names something that does not exist."""


class SessionError(SeamlineError):
    """A session or its store could not do what was asked."""
