"""Serve Memorist: REST, MCP, an inspector for people, API keys and quotas; and spaces in PostgreSQL."""
