"""The commands serve, mcp, keys, inspect and db."""
