"""Passwords: in settings, sentences, URLs, commands and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memorist.text.patterns import lazy
from memorist.text.secrets.form import (
    IS,
    MEANS,
    NOW,
    OF,
    QUOTED,
    SIGN,
    VALUE,
    Secret,
    SecretFormat,
    form,
    ignoring_case,
)
from memorist.text.secrets.values import is_assigned, is_given, is_said, is_said_or_number, is_strong
from memorist.text.tokens import holds_any

_WORD = (
    r"(?:pass[_-]?(?:word|wd|phrase|code|wort)|pwd|kennwort|wachtwoord|lösenord|contrase(?:ñ|n)a|mot de passe|senha"
    r"|hasło|пароль|\bpsk|pre-?shared[ _-]?key"
    r"|(?:wi-?fi|wlan|network|netzwerk|wpa[23]?|router|hotspot)[ -](?:key|code|schlüssel|pass))"
)
_SHORT = r"(?<![A-Za-z])(?:pass|pw|mdp|clave|parola|code wi-?fi)(?![A-Za-z])"
"""Words for a password that mean something else, too."""
_HINTS = (
    "pass pwd pw psk identified kennwort wachtwoord lösenord contrase senha hasło пароль mdp clave parola wifi wi-fi "
    "wlan wpa network netzwerk router hotspot"
)
_ABOUT = r"(?! (?:manager|policy|reset|length|field|hash|generator|change|prompt|strength|rules?|rotation|hint)\b)"

PASSWORDS: Sequence[SecretFormat] = (
    ignoring_case(
        "password",
        r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}+://[^\s:/@]{0,60}+:(?P<it>[^\s/@]{3,100}+)@(?=[\w.\[-])",
        "://",
        is_given,
    ),
    form("password", r"(?<![\w/.:-])[\w.-]{1,40}+:(?P<it>[^\s:/@]{6,60}+)@[\w-]", "@", is_strong),
    ignoring_case(
        "password",
        rf"(?:{_WORD}|(?<![A-Za-z])(?:pass|pw|mdp))(?:_?\d)?['\"]?(?: ?\([^()\n]{{1,30}}\))?{SIGN}"
        rf"(?P<it>{QUOTED}|[^\s,;'\"<>]{{4,100}}(?<![.,;:)\]]))",
        _HINTS,
        is_assigned,
    ),
    ignoring_case(
        "password",
        rf"(?:\b{_WORD}|{_SHORT}){_ABOUT}(?: \w{{2,15}})??{OF}(?:{IS}| [-–] ){VALUE}",
        _HINTS,
        is_said,
    ),
    ignoring_case("password", rf"\b{_WORD}{OF} {MEANS}{NOW} (?P<it>\d{{4,20}})(?![\w%]|[.,:/-]\w| \w)", _HINTS),
    ignoring_case(
        "password",
        rf"\b(?:set|chang\w{{1,3}}|reset|updat\w{{1,3}}|switched)\b[^.,;\n]{{0,40}}?\b{_WORD}{OF} to {VALUE}",
        _HINTS,
        is_said,
    ),
    ignoring_case(
        "password",
        rf"(?:\b{_WORD}|{_SHORT}){_ABOUT}[^.!?\n]{{1,60}}? (?:it['’]?s|is|are|ist|es|est) {VALUE}",
        _HINTS,
        is_strong,
    ),
    ignoring_case(
        "password",
        rf"(?<![A-Za-z]){_WORD}\??:?\s{{0,4}}(?:\||\n\s{{0,4}}(?:[-*>+] |\w{{1,20}}: )?)\s{{0,4}}{VALUE}"
        r"(?=[^\S\n]{0,4}(?:[|\n]|\Z))",
        _HINTS,
        is_strong,
    ),
    ignoring_case(
        "password",
        rf"(?<![A-Za-z])(?:{_WORD}|pass|pw|requirepass|identified by)s? {VALUE}",
        _HINTS,
        is_strong,
    ),
    ignoring_case(
        "password",
        rf"(?<!\S){VALUE},? (?:as|is|was) (?:(?:my|the|his|her|our|your|their)(?: \w{{1,15}}){{0,2}} )?{_WORD}",
        _HINTS,
        is_strong,
    ),
    form(
        "password",
        r"(?:密码|密碼|口令|パスワード|비밀번호)\s?(?:是|为|為|は|는|은|[:：=])?\s?(?P<it>[!-~]{4,60})",
        "密 口令 パス 비밀",
        is_said_or_number,
    ),
    ignoring_case(
        "password",
        r"\b(?:login|log-in|creds?|credentials|zugangsdaten|user(?:name)?)\b(?: are| is|:| ->)? [^\s/:]{1,40}"
        r"(?: ?/ ?|:(?!//))(?P<it>[^\s/]{5,60}(?<![.,;:)]))",
        "login log-in cred zugang user",
        is_strong,
    ),
    ignoring_case("password", r"<\w{0,30}(?:password|passwd|pwd|secret|token)>(?P<it>[^<\n]{4,200})</", "</", is_given),
    form(
        "password",
        r"(?m)^(?:[\w.*-]{1,80}):(?:\d{2,5}|\*):[\w*-]{1,40}:[\w*-]{1,40}:(?P<it>[^\s:]{4,100})$",
        ":54 :*:",
        is_given,
    ),
)

_OPTION = rf"(?P<it>{QUOTED}|[^\s'\"|;-][^\s'\"|;]{{2,100}})"
_MORE = r"[^\n|;]{0,150}?\s"
COMMANDS: Sequence[SecretFormat] = (
    ignoring_case(
        "password",
        r"\b(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-[a-zA-Z]{0,5}u|--user|--proxy-user)[ =]{0,3}['\"]?[^\s:'\"]{0,60}:"
        r"(?P<it>[^\s'\"]{3,100})",
        "curl wget http",
        is_given,
    ),
    form(
        "password",
        rf"\b(?:mysql\w*|mariadb\w*|7z\w?|sshpass)\b{_MORE}-p{_OPTION}",
        "mysql mariadb 7z sshpass",
        is_given,
    ),
    form(
        "password",
        rf"\b(?:sshpass|(?:docker|podman|registry) login|mongo\w*)\b{_MORE}-p {_OPTION}",
        "sshpass login mongo",
        is_given,
    ),
    form("password", rf"\bredis-cli\b{_MORE}(?:-a|--pass) {_OPTION}", "redis-cli", is_given),
    form("password", rf"\b(?:un)?zip\b{_MORE}-P ?{_OPTION}", "zip", is_given),
    form("password", rf"\bopenssl\b{_MORE}-(?:k |pass(?:in|out)? pass:){_OPTION}", "openssl", is_given),
    form("password", r"\bsqlplus [^\s/]{1,40}/(?P<it>[^\s@/]{3,60})", "sqlplus", is_given),
    form("password", rf"\bnet use \S{{1,3}} \S{{3,100}} {_OPTION}", "net", is_given),
    form("password", rf"\bhtpasswd -\w{{1,6}} \S{{1,100}} \S{{1,40}} {_OPTION}", "htpasswd", is_given),
    form(
        "password",
        r"\becho ['\"]?[\w.-]{1,40}:(?P<it>[^\s'\"|]{3,60})['\"]? ?\| ?(?:sudo )?chpasswd",
        "chpasswd",
        is_given,
    ),
    form("password", rf"\s-U [^\s%]{{1,60}}%{_OPTION}", "-u ", is_given),
    form("password", rf"\becho {_OPTION} ?\| ?sudo -S", "sudo", is_given),
    ignoring_case(
        "password", rf"\s--?(?:pass(?:word|wd|phrase)?|pwd|secret)[ =]{_OPTION}", "-pass -pwd -secret", is_strong
    ),
)

_HEADER = lazy(
    r"(?im)^[^\n]*\b(?:pass(?:word|wd|phrase|code)|pwd|kennwort|passwort|api[ _-]?key|token|secret)\b[^\n]*$"
)
_HEADINGS = lazy(r"(?i)[\w -]{0,30}(?:pass(?:word|wd|phrase|code)?|pwd|kennwort|passwort|key|token|secret)s?")
_HEADS = ("pass", "pwd", "kennwort", "api", "token", "secret")
_SEPARATORS = "|\t,;"
_BETWEEN = tuple(_SEPARATORS)
_ROWS = 200
"""Rows that are read below a header."""
_CELLS = 50


def _may_have_columns(text: str) -> bool:
    """Whether a text holds a sign between columns and a word that may head one."""
    return holds_any(text, _BETWEEN) and (not text.isascii() or holds_any(text.lower(), _HEADS))


def in_columns(text: str) -> Iterator[Secret]:
    """The passwords in the columns of tables that such a word heads: Markdown, CSV or tabs."""
    if not _may_have_columns(text):
        return
    read = 0
    for header in _HEADER.finditer(text):
        separator = next((sign for sign in _SEPARATORS if sign in header[0]), None)
        if separator is None or header.start() < read:
            continue
        names = header[0].split(separator, _CELLS)
        places = {place for place, name in enumerate(names) if _HEADINGS.fullmatch(name.strip(" *\"'`"))}
        read = header.end()
        for _ in range(_ROWS if places else 0):
            end = text.find("\n", read + 1)
            row = text[read + 1 : end if end >= 0 else len(text)]
            if separator not in row:
                break
            yield from _cells(row, read + 1, separator, places)
            if end < 0:
                return
            read = end


def _cells(row: str, start: int, separator: str, places: set[int]) -> Iterator[Secret]:
    for place, cell in enumerate(row.split(separator, _CELLS)):
        value = cell.strip(" *\"'`")
        if place in places and is_strong(value):
            at = start + cell.index(value)
            yield Secret("password", at, at + len(value))
        start += len(cell) + 1
