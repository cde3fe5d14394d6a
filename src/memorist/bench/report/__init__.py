"""What a run found out, to read: lines for a terminal, and one page for a browser."""
