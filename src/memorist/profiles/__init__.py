"""Extraction profiles: what a domain adds to a model's instructions and to the value of memories."""

from memorist.profiles.model import PLAIN, Profile, profiled
from memorist.profiles.reading import SHIPPED, find_profile, profile_from_data

__all__ = ["PLAIN", "SHIPPED", "Profile", "find_profile", "profile_from_data", "profiled"]
