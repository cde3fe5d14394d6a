"""One call of a verb: in the right space, by somebody who may, in a thread, and at most once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from anyio import move_on_after, to_thread
from fastapi import Depends, Path
from starlette.requests import Request
from starlette.responses import Response

from memorist.errors import InvalidInput, NotFound
from memorist.model import Memory
from memorist.surfaces.rest.answers import StoredAnswer, Ticket
from memorist.surfaces.rest.auth import MOST_CLASSIFIED, Caller
from memorist.surfaces.rest.problems import FORBIDDEN, TIMED_OUT, Refusal
from memorist.surfaces.rest.server import Server

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


T = TypeVar("T")
Verb = Callable[["Engine"], T]
SPACE_PATTERN = r"^\w[\w.@-]{0,99}$"
IDEMPOTENCY = "idempotency-key"
LONGEST_KEY = 255
USUAL_CLASSIFICATION = 2
"""What recall and list show unless they are told otherwise."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request that may do what it asks."""

    server: Server
    request: Request
    caller: Caller
    space: str
    right: str

    async def run(self, verb: Verb[T], *, long: bool = False, makes: bool = False) -> T:
        """What a verb gives, run in a thread; the answer does not wait for longer than is set.

        One that `makes` something makes the space too, where it is not there.
        """

        def work() -> T:
            with self.server.spaces.use(self.space, create=makes) as engine:
                return verb(engine)

        with move_on_after(self._patience(long)):
            return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self.server.threads)
        raise Refusal(TIMED_OUT)

    async def once(self, verb: Verb[Any]) -> Response:
        """What a verb that takes a file in gives, as JSON; doing it twice adds nothing, so that it needs no key."""
        return _json(await self.run(lambda engine: to_json(verb(engine)), long=True, makes=True), 200)

    async def answer(
        self, verb: Verb[Any], *, status: int = 200, long: bool = False, makes: bool = False, erases: bool = False
    ) -> Response:
        """What a verb gives, as JSON. A write with an Idempotency-Key runs once; a repeat gets the same answer."""
        ticket = None if self.right == "read" else await self._ticket()

        def find(engine: Engine) -> StoredAnswer:
            found = StoredAnswer(status, to_json(verb(engine)))
            if erases:
                self.server.answers.forget(self.space)
            return found

        if ticket is None:
            given = await self.run(find, long=long, makes=makes)
        else:
            once = partial(self._once, ticket, self._patience(long))
            given = await self.run(lambda engine: once(lambda: find(engine)), long=long, makes=makes)
        return _json(given.body, given.status)

    def _once(self, ticket: Ticket, patience: float, find: Callable[[], StoredAnswer]) -> StoredAnswer:
        """The answer that was given before, or is found now; kept even if nobody waits for it any longer."""
        answers = self.server.answers
        known = answers.begin(ticket, patience)
        if known is not None:
            return known
        try:
            found = find()
        except BaseException:
            answers.drop(ticket)
            raise
        answers.keep(ticket, found)
        return found

    def _patience(self, long: bool) -> float:
        settings = self.server.settings
        return settings.upkeep_timeout if long else settings.timeout

    async def _ticket(self) -> Ticket | None:
        key = self.request.headers.get(IDEMPOTENCY)
        if key is None:
            return None
        if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
            raise InvalidInput(
                "The Idempotency-Key is empty, too long or unprintable", remedy="Send up to 255 characters."
            )
        parts = (self.request.method, self.request.url.path, self.request.url.query)
        digest = hashlib.sha256("\n".join(parts).encode() + b"\n" + await self.request.body()).hexdigest()
        return Ticket(self.caller.id or "", key, self.space, digest)

    def capped(self, options: Mapping[str, Any], usual: int = USUAL_CLASSIFICATION) -> Any:
        """Filters that choose nothing more secret than the caller may see."""
        wanted = cast("int", options.get("max_classification", usual))
        return {**options, "max_classification": min(wanted, self.caller.max_classification)}

    def may_see(self, memory: Memory) -> bool:
        """Whether there is such a memory for the caller."""
        return memory.worth.classification <= self.caller.max_classification

    def seen(self, engine: Engine, id: str) -> Memory:
        """A memory that the caller may see; any other is not there."""
        memory = engine.get(id)
        if memory is None or not self.may_see(memory):
            raise NotFound(f"There is no memory {id!r}", remedy="Look it up with list().")
        return memory

    def check_keeps(self, classification: int) -> None:
        """Refuse to keep what the caller could not see afterwards."""
        if classification > self.caller.max_classification:
            raise Refusal(FORBIDDEN, f"This key may not see or keep what is classified {classification}")

    def kept(self, memory: Memory) -> Memory:
        """What was kept; where the text was known already as something more secret, that is not shown."""
        self.check_keeps(memory.worth.classification)
        return memory

    def whole(self) -> Call:
        """This call, unless its caller may see a part of the memories only."""
        if self.caller.max_classification < MOST_CLASSIFIED:
            raise Refusal(FORBIDDEN, "This looks at every memory, and this key may not see the most secret ones")
        return self


SpaceName = Annotated[
    str,
    Path(
        pattern=SPACE_PATTERN,
        description="The space: up to 100 letters, digits, and . @ - _, beginning with a letter or digit.",
        examples=["agent"],
    ),
]


def _call_with(right: str) -> Callable[[Request, str], Awaitable[Call]]:
    async def call(request: Request, space: SpaceName) -> Call:
        caller: Caller = request.state.caller
        if not caller.allows(space, right):
            raise Refusal(FORBIDDEN, f"This key may not {right} in that space")
        return Call(request.app.state.server, request, caller, space, right)

    return call


ReadCall = Annotated[Call, Depends(_call_with("read"))]
WriteCall = Annotated[Call, Depends(_call_with("write"))]
AdminCall = Annotated[Call, Depends(_call_with("admin"))]


def to_json(data: Any) -> bytes:
    """Data as JSON."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def _json(body: bytes, status: int) -> Response:
    return Response(body, status, media_type="application/json")
