"""A memory on a server: the verbs of `memorist.open`, over HTTP."""

from memorist.client.client import Client, connect, connect_async
from memorist.client.transport import Refused, Unreachable

__all__ = ["Client", "Refused", "Unreachable", "connect", "connect_async"]
