"""Keeping a memory healthy while it lives: renewing it, moving it, and what lets rot in or keeps it out."""
