"""The bench: how well, how fast and at how many tokens a recipe recalls, on data with known answers."""
