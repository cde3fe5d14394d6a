"""Coding agents: their settings files, the hooks they call, and what a hook does with a memory.

To read on: `clients` (each program with its files and events), `install` with `edit_json` and `edit_toml` (writing the
files), then `payload`, `transcript`, `project`, `lessons` and `hooks` (one event), and `guard` (no event ever fails).
"""
