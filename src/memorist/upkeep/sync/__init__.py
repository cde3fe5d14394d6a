"""Sync: replicas of a memory that meet through a shared folder."""

from memorist.upkeep.sync.run import Moves, Synced

__all__ = ["Moves", "Synced"]
