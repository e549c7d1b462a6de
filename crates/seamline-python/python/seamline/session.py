"""Durable conversations: `Session` for threads, `AsyncSession` for asyncio."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from seamline import _native, _options
from seamline.errors import SessionError
from seamline.results import Action, Checked, Finding

#: What a tool returns: its text, or a text and whether it reports a failure.
Output = "str | tuple[str, bool]"


class Request:
    """A body to send, and the repairs that were made for it."""

    def __init__(self, raw: bytes, report: bytes) -> None:
        #: The bytes to send.
        self.body = raw
        self.report: dict[str, Any] = json.loads(report)
        #: Whether the body may be sent: no error remains.
        self.sendable: bool = self.report["sendable"]

    def json(self) -> dict[str, Any]:
        """The body as a dict."""
        return json.loads(self.body)

    @property
    def actions(self) -> list[Action]:
        """The repairs that make the provider accept the body."""
        return [Action.of(one) for one in self.report["actions"]]

    @property
    def remaining(self) -> list[Finding]:
        """The findings after the repairs."""
        return [Finding.of(one) for one in self.report["remaining"]]

    def __repr__(self) -> str:
        state = "sendable" if self.sendable else "not sendable"
        return f"<Request {state}, {len(self.body)} bytes, {len(self.report['actions'])} repairs>"


def _texts(messages: Any) -> list[str]:
    """One message or several, each as its JSON text."""
    many = messages if isinstance(messages, (list, tuple)) else [messages]
    return [one if isinstance(one, str) else _text(one) for one in many]


def _text(message: Any) -> str:
    return (bytes(message) if isinstance(message, (bytes, bytearray)) else _native.dumps(message)).decode()


def _output(output: Any) -> tuple[str, bool]:
    text, failed = output if isinstance(output, tuple) else (output, False)
    return (text if isinstance(text, str) else _native.dumps(text).decode()), bool(failed)


def _open(url: str, id: str, how: str, options: dict[str, Any]) -> _native.Session:
    names = {name: options.get(name) for name in ("dialect", "provider", "title", "policy")}
    opening = {name: options.get(name) for name in ("take_over", "dialect", "policy")}
    if options.get("recover") is False:
        opened = json.dumps({**json.loads(_options.text(**opening)), "recover": False})
    else:
        opened = _options.text(**opening)
    return _native.Session.open(url, id, how, _options.text(**names), opened)


class Session:
    """A durable conversation, open for writing. Its methods block; threads may share it.

    The store is `sqlite:PATH`, `postgres://…` or `memory:`. Messages are kept byte for byte.
    """

    def __init__(self, native: _native.Session) -> None:
        self._native = native

    @classmethod
    def open(
        cls,
        url: str,
        id: str,
        *,
        dialect: str | None = None,
        provider: str | None = None,
        title: str | None = None,
        policy: str | dict[str, Any] | None = None,
        take_over: bool = False,
        recover: bool = True,
        create: bool = True,
    ) -> Session:
        """Opens the session of this name, or creates it."""
        options = {
            "dialect": dialect,
            "provider": provider,
            "title": title,
            "policy": policy,
            "take_over": take_over,
            "recover": recover,
        }
        return cls(_open(url, id, "either" if create else "open", options))

    @classmethod
    def create(cls, url: str, id: str, **options: Any) -> Session:
        """Creates a session; there must be none of this name. Takes `dialect`, `provider`, `title` and `policy`."""
        return cls(_open(url, id, "create", options))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the session and releases its lease. A second call does nothing."""
        self._native.close()

    def _about(self) -> dict[str, Any]:
        return json.loads(self._native.about())

    @property
    def id(self) -> str:
        """The name of the session."""
        return self._about()["id"]

    @property
    def dialect(self) -> str:
        """The dialect of new messages and of requests."""
        return self._about()["dialect"]

    @property
    def epoch(self) -> int:
        """The epoch of its lease. The next writer gets a later one, and this writer is fenced."""
        return self._about()["epoch"]

    @property
    def is_whole(self) -> bool:
        """Whether every commit passed its hash check when the session was opened."""
        return self._about()["whole"]

    @property
    def messages(self) -> list[Any]:
        """The messages of the view. Open cycles are not among them."""
        return json.loads(self._native.messages())

    def __len__(self) -> int:
        return self._about()["messages"]

    def append(self, *messages: Any) -> None:
        """Appends messages, all or none: dicts, JSON texts, or lists of them."""
        flat = [text for message in messages for text in _texts(message)]
        self._native.append(flat)

    def request(self, envelope: Mapping[str, Any] | str, *, to: str | None = None) -> Request:
        """The body for the provider: the envelope, which is everything except the messages, and the repaired messages."""
        text = envelope if isinstance(envelope, str) else _text(dict(envelope))
        return Request(*self._native.request(text, to))

    def check(self) -> Checked:
        """Checks the stored messages."""
        return Checked(self._native.check())

    def validate(self) -> dict[str, Any]:
        """Whether the stored messages are valid, as source documents ask it."""
        return json.loads(self._native.validate())

    def repair(self) -> dict[str, Any]:
        """Repairs the stored messages as the policy says; the repair is a record, and `undo_repair` reverts it."""
        return json.loads(self._native.repair())

    def undo_repair(self) -> str:
        """Reverts the last repair and returns its id."""
        return self._native.undo_repair()

    def create_checkpoint(self, operation: str = "manual") -> dict[str, Any]:
        """Makes a checkpoint for an operation: `tool_cycle`, `compaction`, `api_call` or `manual`."""
        return json.loads(self._native.create_checkpoint(operation))

    def commit_checkpoint(self, id: str) -> None:
        """Commits a checkpoint: its operation is over."""
        self._native.commit_checkpoint(id)

    def checkpoints(self) -> list[dict[str, Any]]:
        """All checkpoints, from the first to the last."""
        return json.loads(self._native.checkpoints())

    def rollback(self, id: str, reason: str = "") -> dict[str, Any]:
        """Rolls back to a checkpoint: later messages leave the view. Nothing is erased."""
        return json.loads(self._native.rollback(id, reason))

    def reset(self, *, archive: bool = True) -> dict[str, Any]:
        """Resets the session to its system messages. Nothing is erased."""
        return json.loads(self._native.reset(archive))

    def begin_cycle(self, turn: Any, effects: Mapping[str, str] | None = None) -> Cycle:
        """Begins a cycle with the message of the model that makes tool calls.

        `effects` has the effect of each tool: `read_only`, `idempotent`, `probe`, `compensatable` or `unsafe`, which is
        the default: such a call never runs again by itself.
        """
        begun = json.loads(self._native.begin_cycle(_texts(turn), list((effects or {}).items())))
        return Cycle(self, begun["id"], begun["calls"])

    def execute_tool_cycle(
        self,
        turn: Any,
        run: Callable[[dict[str, Any]], Any],
        effects: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """Runs the calls of a turn in order and puts the turn and all results into the view together.

        `run` takes a call (`id`, `name`, `input`, `key`) and returns its text, or a text and whether it is an error. An
        exception is the call's result: the model reads it.
        """
        cycle = self.begin_cycle(turn, effects)
        for call in cycle.calls:
            key = cycle.start(call["id"])
            try:
                output = run({**call, "key": key})
            except Exception as error:
                output = (f"{type(error).__name__}: {error}", True)
            cycle.finish(call["id"], *_output(output))
        return cycle.commit()

    def unresolved(self) -> list[dict[str, Any]]:
        """The calls of open cycles, and what is known of each."""
        return json.loads(self._native.unresolved())

    def recover(self) -> dict[str, int]:
        """Closes the cycles that a crash left open."""
        return json.loads(self._native.recover())

    def abort(self) -> list[Any]:
        """Closes the open cycles, because the user aborted them."""
        return json.loads(self._native.abort())

    def incidents(self) -> list[dict[str, Any]]:
        """The problems that were found in live use. They never hold content."""
        return json.loads(self._native.incidents())

    def handle_error(self, text: str, *, status: int | None = None, provider: str | None = None) -> dict[str, Any]:
        """What to do about an error of the provider; the session repairs itself where that helps."""
        return json.loads(self._native.handle_error(_options.text(text=text, status=status, provider=provider)))

    def before_compaction(self, start: int, end: int) -> tuple[int, int]:
        """Begins a compaction and gives the range to replace, which splits no cycle."""
        return self._native.before_compaction(start, end)

    def finish_compaction(self, start: int, end: int, summary: Any) -> None:
        """Finishes a compaction: the summary replaces the range."""
        self._native.finish_compaction(start, end, _texts(summary))

    def cancel_compaction(self) -> int:
        """Cancels a compaction and gives the number of messages that came meanwhile."""
        return self._native.cancel_compaction()

    def switch_provider(self, name: str) -> None:
        """Switches to another provider; earlier messages are rendered for it."""
        self._native.switch_provider(name)

    def fork(self, id: str) -> Session:
        """Makes a session with another name that begins with this view."""
        return Session(self._native.fork(id))

    def __repr__(self) -> str:
        try:
            about = self._about()
        except SessionError:
            return "<Session closed>"
        return f"<Session {about['id']}: {about['messages']} messages of {about['dialect']}>"


class Cycle:
    """An open cycle: a message of the model, and the calls of it to run."""

    def __init__(self, session: Session, id: str, calls: list[dict[str, Any]]) -> None:
        self._session = session
        #: The id of the cycle.
        self.id = id
        #: The calls to run: `id`, `name` and `input`.
        self.calls = calls

    def start(self, call: str) -> str:
        """Makes the intent of a call durable before it runs, and returns its idempotency key."""
        return self._session._native.start_call(self.id, call)

    def finish(self, call: str, output: str, is_error: bool = False) -> None:
        """Makes the result of a call durable."""
        self._session._native.finish_call(self.id, call, output, is_error)

    def commit(self) -> list[dict[str, Any]]:
        """Puts the turn and all results into the view."""
        return json.loads(self._session._native.commit_cycle(self.id))

    def roll_back(self, reason: str = "") -> None:
        """Rolls the cycle back: its turn never enters the view."""
        self._session._native.roll_back_cycle(self.id, reason)


class AsyncSession:
    """A `Session` for asyncio: the same methods, each a coroutine that runs in a thread."""

    def __init__(self, session: Session) -> None:
        #: The session itself, for threads.
        self.session = session

    @classmethod
    async def open(cls, url: str, id: str, **options: Any) -> AsyncSession:
        """Opens the session of this name, or creates it. Takes the arguments of `Session.open`."""
        return cls(await asyncio.to_thread(lambda: Session.open(url, id, **options)))

    @classmethod
    async def create(cls, url: str, id: str, **options: Any) -> AsyncSession:
        """Creates a session; there must be none of this name."""
        return cls(await asyncio.to_thread(lambda: Session.create(url, id, **options)))

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def messages(self) -> list[Any]:
        """The messages of the view."""
        return await asyncio.to_thread(lambda: self.session.messages)

    async def execute_tool_cycle(
        self, turn: Any, run: Callable[[dict[str, Any]], Any], effects: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Runs the calls of a turn side by side; `run` is a coroutine function."""
        cycle = await asyncio.to_thread(self.session.begin_cycle, turn, effects)

        async def finished(call: dict[str, Any]) -> None:
            key = await asyncio.to_thread(cycle.start, call["id"])
            try:
                output = await run({**call, "key": key})
            except Exception as error:
                output = (f"{type(error).__name__}: {error}", True)
            await asyncio.to_thread(cycle.finish, call["id"], *_output(output))

        await asyncio.gather(*(finished(call) for call in cycle.calls))
        return await asyncio.to_thread(cycle.commit)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or not callable(getattr(Session, name, None)):
            raise AttributeError(name)
        method = getattr(self.session, name)

        async def call(*args: Any, **named: Any) -> Any:
            return await asyncio.to_thread(lambda: method(*args, **named))

        return call
