"""Who may use a server: API keys, and the answers that idempotency keys stand for."""
