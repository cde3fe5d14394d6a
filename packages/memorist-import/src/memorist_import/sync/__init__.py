"""Sync: replicas of a memory that meet through a shared folder."""

from memorist_import.sync.merge import MergeServices
from memorist_import.sync.run import Moves, Synced, sync_folder
from memorist_import.sync.state import Shared

__all__ = ["MergeServices", "Moves", "Shared", "Synced", "sync_folder"]
