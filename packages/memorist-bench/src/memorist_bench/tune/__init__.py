"""Fit the numbers of a recipe to the user's own feedback and judged questions."""
