"""Reports of results: tables for a terminal, and one HTML page."""
