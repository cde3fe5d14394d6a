"""What a text is made of: its words, their stems, its language and its length in tokens."""
