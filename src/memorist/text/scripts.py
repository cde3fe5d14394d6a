"""Which characters belong to which kind of writing, as the inside of a regular expression's brackets."""

# Written without spaces: Hangul, Han, Kana, Bopomofo; Thai, Lao, Burmese, Khmer.
UNSPACED = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
)

# Vowel signs are no letters to `\w`, yet parts of words in the scripts of India, Tibet and others.
LETTER = r"\w\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u0f90-\u0fbc"

# Pictures and symbols, less the five skin tones.
EMOJI = r"\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
FLAG_LETTER = r"\U0001f1e6-\U0001f1ff"
