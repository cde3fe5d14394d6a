"""Keys: who may reach which space over the network, and what they may do there."""

from memorist.surfaces.keys.key import RIGHTS, Key
from memorist.surfaces.keys.ring import KeyRing, keys_file

__all__ = ["RIGHTS", "Key", "KeyRing", "keys_file"]
