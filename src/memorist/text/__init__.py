"""Texts: words, stems, languages, dates, phrases, secrets and token counts."""
