"""Read what other products wrote, as texts to remember, and keep replicas of a memory together."""
