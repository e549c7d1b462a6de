"""Durable conversations for threads. `async_session` has them for asyncio."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from seamline import _native, _options, _text
from seamline.errors import InputError, OptionError, SessionError
from seamline.results import Action, Checked, Finding


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
    return [one if isinstance(one, str) else _json(one) for one in many]


def _json(message: Any) -> str:
    return (bytes(message) if isinstance(message, (bytes, bytearray)) else _native.dumps(message)).decode()


def envelope_of(envelope: Mapping[str, Any] | str) -> str:
    """The JSON text of an envelope."""
    return envelope if isinstance(envelope, str) else _json(dict(envelope))


def id_of(cycle: str | Cycle) -> str:
    """The id of a cycle."""
    return cycle if isinstance(cycle, str) else cycle.id


def described(error: Exception) -> str:
    """The text that the model reads of an exception."""
    try:
        return _text.whole(f"{type(error).__name__}: {error}")
    except Exception:
        return type(error).__name__


def output_of(output: Any) -> tuple[str, bool]:
    """The output of a tool: its text, and whether it reports a failure. The tool has run, so no value is refused."""
    is_pair = isinstance(output, tuple) and [type(one) for one in output] == [str, bool]
    value, failed = output if is_pair else (output, False)
    if isinstance(value, str):
        return _text.whole(value), failed
    try:
        return _native.dumps(value).decode(), failed
    except InputError:
        return _text.shown(value), failed


@dataclass(frozen=True)
class AgentStart:
    """Whether a request may be sent."""

    #: Whether to send `request`. If not, `validation` says what is wrong.
    proceed: bool
    request: Request | None = None
    #: The checkpoint that an error rolls back to.
    checkpoint: str | None = None
    validation: dict[str, Any] | None = None
    #: Whether `Session.repair` helps.
    repair_offered: bool = False

    @classmethod
    def of(cls, raw: bytes) -> AgentStart:
        """The outcome of the hook from its JSON."""
        start = json.loads(raw)
        if start["proceed"]:
            request = Request(start["body"].encode(), json.dumps(start["report"]).encode())
            return cls(True, request, start["checkpoint"])
        return cls(False, validation=start["validation"], repair_offered=start["repair_offered"])


def open_store(url: str) -> Store:
    """Opens the store at a URL: `sqlite:PATH`, `postgres://…` or `memory:`."""
    if not isinstance(url, str):
        raise OptionError(f"the URL of a store cannot be a `{type(url).__name__}`", "use `sqlite:PATH` or `memory:`")
    return Store(_native.Store(url))


class Store:
    """A store of sessions. Threads may share it."""

    def __init__(self, native: _native.Store) -> None:
        self._native = native

    def list(self) -> list[dict[str, Any]]:
        """The sessions by name, each with its number of commits, its size, its dialect and its writer."""
        return json.loads(self._native.list())

    def create(
        self,
        id: str,
        *,
        dialect: str | None = None,
        provider: str | None = None,
        title: str | None = None,
        policy: str | dict[str, Any] | None = None,
    ) -> Session:
        """Creates a session; there must be none of this name."""
        created = _options.text(dialect=dialect, provider=provider, title=title, policy=policy)
        return Session(self._native.session(id, "create", created, "{}"))

    def open(
        self,
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
        """Opens the session of this name, or creates it. `provider` and `title` are those of a new one."""
        created = _options.text(dialect=dialect, provider=provider, title=title, policy=policy)
        opening = json.loads(_options.text(take_over=take_over, dialect=dialect, policy=policy))
        opened = json.dumps({**opening, "recover": recover})
        return Session(self._native.session(id, "either" if create else "open", created, opened))

    def erase(self, id: str, *, take_over: bool = False) -> dict[str, int]:
        """Removes everything of a session, for good. One that another process writes stays, unless `take_over` is set."""
        return json.loads(self._native.erase(id, take_over))


class Session:
    """A durable conversation, open for writing. Its methods block; threads may share it.

    The store is `sqlite:PATH`, `postgres://…` or `memory:`. Messages are kept byte for byte.
    """

    def __init__(self, native: _native.Session) -> None:
        self._native = native

    @classmethod
    def open(cls, url: str, id: str, **options: Any) -> Session:
        """Opens the session of this name, or creates it. Takes the options of `Store.open`."""
        return open_store(url).open(id, **options)

    @classmethod
    def create(cls, url: str, id: str, **options: Any) -> Session:
        """Creates a session; there must be none of this name. Takes the options of `Store.create`."""
        return open_store(url).create(id, **options)

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
        return Request(*self._native.request(envelope_of(envelope), to))

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

    def latest_checkpoint(self) -> dict[str, Any] | None:
        """The last open checkpoint, which an error rolls back to."""
        return json.loads(self._native.latest_checkpoint())

    def get_checkpoint(self, id: str) -> dict[str, Any] | None:
        """The checkpoint of this id."""
        return json.loads(self._native.get_checkpoint(id))

    def prune_checkpoints(self, keep: int) -> int:
        """Drops committed checkpoints but for the last ones, and gives the number of those."""
        return self._native.prune_checkpoints(keep)

    def clear_checkpoints(self) -> int:
        """Drops all checkpoints, and gives the number of them."""
        return self._native.clear_checkpoints()

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

        If this is interrupted, the cycle is closed as aborted: the model reads which calls may have run.
        """
        cycle = self.begin_cycle(turn, effects)
        try:
            for call in cycle.calls:
                key = cycle.start(call["id"])
                try:
                    output = output_of(run({**call, "key": key}))
                except Exception as error:
                    output = (described(error), True)
                cycle.finish(call["id"], *output)
            return cycle.commit()
        except BaseException:
            cycle.close()
            raise

    def before_tool_call(self, cycle: str | Cycle, call: str) -> str:
        """Makes the intent of a call durable before it runs, and returns its idempotency key."""
        return self._native.before_tool_call(id_of(cycle), call)

    def finish_call(self, cycle: str | Cycle, call: str, output: Any, is_error: bool = False) -> None:
        """Makes the result of a call durable. `commit_cycle` puts it into the view."""
        text, failed = output_of(output)
        self._native.finish_call(id_of(cycle), call, text, is_error or failed)

    def after_tool_call(
        self, cycle: str | Cycle, call: str, output: Any, is_error: bool = False
    ) -> list[dict[str, Any]] | None:
        """Makes the result of a call durable and commits the cycle with the last one, whose outcomes it then returns."""
        text, failed = output_of(output)
        return json.loads(_native.after_tool_call(self._native, (id_of(cycle), call), (text, is_error or failed)))

    def after_tool_failure(self, cycle: str | Cycle, call: str, error: str) -> list[dict[str, Any]] | None:
        """Records that a tool could not be run: the model reads why, or the cycle is rolled back, as the policy says."""
        return json.loads(_native.after_tool_failure(self._native, (id_of(cycle), call), _text.whole(error)))

    def commit_cycle(self, cycle: str | Cycle) -> list[dict[str, Any]]:
        """Puts the turn and all results of a cycle into the view."""
        return json.loads(self._native.commit_cycle(id_of(cycle)))

    def roll_back_cycle(self, cycle: str | Cycle, reason: str = "") -> None:
        """Rolls a cycle back: its turn never enters the view."""
        self._native.roll_back_cycle(id_of(cycle), reason)

    def session_start(self) -> dict[str, Any]:
        """Call this when a session was opened: validates it, and offers a repair or makes it."""
        return json.loads(_native.session_start(self._native))

    def before_agent_start(self, envelope: Mapping[str, Any] | str) -> AgentStart:
        """Call this before each request: closes open calls, takes the inbox in, validates, makes a checkpoint, and gives
        the body to send."""
        return AgentStart.of(_native.before_agent_start(self._native, envelope_of(envelope)))

    def agent_end(
        self,
        *messages: Any,
        error: str | BaseException | None = None,
        status: int | None = None,
        provider: str | None = None,
    ) -> dict[str, Any]:
        """Call this when a turn of the model has ended, with its messages or with an error. A turn with calls goes to
        `begin_cycle` instead."""
        if error is not None:
            failed = _options.failure(error, status, None, provider)
            return json.loads(_native.agent_failed(self._native, failed))
        flat = [text for message in messages for text in _texts(message)]
        return json.loads(_native.agent_end(self._native, flat))

    def settle(self) -> None:
        """Settles writes whose outcome the store did not tell, such as those of a broken connection."""
        self._native.settle()

    def take_inbox(self) -> int:
        """Takes messages that other processes left into the view, and gives their number."""
        return _native.take_inbox(self._native)

    def repair_context(self, *, take: bool = False) -> dict[str, Any]:
        """The losses and repairs since the session was opened. With `take` a new context starts."""
        return json.loads(_native.repair_context(self._native, take))

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

    def handle_error(
        self, error: str | BaseException, *, status: int | None = None, provider: str | None = None
    ) -> dict[str, Any]:
        """Handles an error of the provider, and says what to do; the session repairs itself where that helps."""
        return json.loads(self._native.handle_error(_options.failure(error, status, None, provider)))

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
        return self._session._native.before_tool_call(self.id, call)

    def finish(self, call: str, output: Any, is_error: bool = False) -> None:
        """Makes the result of a call durable."""
        text, failed = output_of(output)
        self._session._native.finish_call(self.id, call, text, is_error or failed)

    def commit(self) -> list[dict[str, Any]]:
        """Puts the turn and all results into the view."""
        return json.loads(self._session._native.commit_cycle(self.id))

    def roll_back(self, reason: str = "") -> None:
        """Rolls the cycle back: its turn never enters the view."""
        self._session._native.roll_back_cycle(self.id, reason)

    def close(self) -> None:
        """Closes the cycle as aborted: durable results are kept, and the model reads what is known of the other calls.

        If other cycles are open, this one is rolled back instead, because theirs may still run.
        """
        try:
            others = {call["cycle"] for call in self._session.unresolved()} - {self.id}
            if others:
                self.roll_back("the cycle was cancelled")
            else:
                self._session.abort()
        except SessionError:
            # The store failed or the session is closed: the next one that opens it recovers the cycle.
            return
