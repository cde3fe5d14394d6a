"""Understand the query, before any search. None of these stages gives scores."""
