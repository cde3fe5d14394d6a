"""Prompt injection: text that gives the model orders, roles, tool calls or requests to leak data, also in disguise."""

from __future__ import annotations

import binascii
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from memorist.text.labels import UNSEEN
from memorist.text.patterns import any_of, lazy
from memorist.text.tokens import holds_any

DROP = "tells the model to drop its instructions"
ROLE = "gives the model another role"
MARKERS = "imitates a prompt's role markers"
TOOLS = "imitates a tool call"
LEAK = "asks for secrets to be handed over"
BEHIND = "orders the model to act behind the user's back"


class _Form(NamedTuple):
    reason: str
    hints: tuple[str, ...]
    """The pattern is tried only if the folded text contains one of these."""
    pattern: re.Pattern[str]


def instructions_in(text: str) -> list[str]:
    """The reasons why a text looks like an injection, in any disguise; empty for ordinary text."""
    return list(dict.fromkeys(reason for reading in _readings(text) for reason in _reasons(reading)))


def _reasons(text: str) -> Iterator[str]:
    folded = text.lower()
    if not (_HINTS if folded.isascii() else _ALL_HINTS).search(folded):
        return
    for form in _FORMS:
        if holds_any(folded, form.hints) and form.pattern.search(text):
            yield form.reason


def _form(reason: str, hints: str, *pieces: str) -> _Form:
    return _Form(reason, tuple(hints.split("|")), lazy("".join(pieces), re.IGNORECASE))


_EARLIER = r"(?:previous|prior|above|earlier|preceding|existing|original|former|system|developer|initial|old)"
_ORDERS = (
    r"(?:instructions?|prompts?|rules|guidelines|directives?|messages?|context|programming|training|polic(?:y|ies))"
)
_PROMPT = r"(?:system|hidden|initial) prompt|(?:initial|hidden|secret|system|internal|developer) instructions"
_PRIVATE = (
    rf"(?:{_PROMPT}|api[ _-]?keys?|access tokens?|credentials|environment variables|\.env\b|private keys?|passwords"
    r"|(?:conversation|chat) history|(?:user|stored|all)(?:'s)? memories|memory (?:store|contents?))"
)
_AWAY = (
    r"(?:https?://|\bwebhook\b|\bto (?:this|the following) (?:url|address|server|endpoint|email)"
    r"|[\w.+-]@[\w-]{1,63}+\.\w)"
)
_REGLAS = (
    r"(?:instruc\w*+|istruzioni|consignes|indicaciones|indicazioni|regles|reglas|regras|regole|directrices|directives"
    r"|ordenes|ordens|ordres)"
)
_ANTERIOR = (
    r"(?:precedent\w*+|anterior\w*+|previ[ao]s|iniciales|initiales|originales|ci-dessus"
    r"|d(?:el|o|u|i) (?:sistema|systeme))"
)
_ROMANCE_HINTS = "instruc|istruzion|consigne|indicac|indicaz|regles|reglas|regras|regole|directri|directiv|orden|ordre"
_ROMANCE = (
    r"\b(?:ignor(?:e[sz]?|a|ad|ate|en)|oubli(?:e|ez)|olvid(?:a|e|en)|esque(?:ca|ce)|dimentica(?:te)?"
    r"|desconsider[ae])(?:\s++\w++){0,3}?\s++"
)
"""In French, Spanish, Portuguese and Italian."""

_FORMS = (
    _form(
        DROP,
        "instruction|prompt|rules|guideline|directive|message|context|programming|training|polic",
        r"\b(?:ignore|disregard|forget|override|bypass|discard|do not follow|don't follow|stop following)\b",
        r"(?:\s+(?:all|any|every|everything|each|of|the|your|my|our|these|those|this|its|and))*",
        rf"\s+{_EARLIER}(?:\s+(?:and\s+)?(?:{_EARLIER}|safety|security))*\s+{_ORDERS}\b",
    ),
    _form(
        DROP,
        "instructions|guidelines|system prompt|programming|directive",
        r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+)?(?:of\s+)?(?:your|the)\s+(?:(?:safety|security|",
        r"content)\s+)?(?:instructions|guidelines|system prompt|programming|directives?)\b",
    ),
    _form(
        DROP,
        "ignore |disregard |forget ",
        r"\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+",
        r"(?:(?:that\s+)?(?:you\s+(?:were|have been)|i)\s+)?(?:told|said|written|above|before\s+this)\b",
        r".{0,80}\b(?:instead|now|and\s+(?:then\s+)?",
        r"(?:do|say|write|print|reply|respond|output|follow|act))\b",
    ),
    _form(
        ROLE,
        "you are|act as|pretend|roleplay",
        r"\b(?:you are now|from now on,? you are|act as|pretend (?:to be|you are)|roleplay as)\s+(?:an?\s+|the\s+)?",
        r"(?:dan\b|jailbroken|unrestricted|unfiltered|uncensored|developer mode|evil|root\b|admin\s+mode",
        r"|(?:ai|assistant|model|chatbot) (?:with(?:out)?|that has) (?:no|any) (?:restrictions|limits|rules|filters))",
    ),
    _form(
        ROLE,
        " mode",
        r"\b(?:enable|enter|activate|switch to|you are (?:now )?in)\s+",
        r"(?:god|dan|jailbreak|unrestricted|unfiltered)\s+mode\b",
    ),
    _form(
        MARKERS,
        "im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id|inst]|sys>>",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>",
        r"|\[/?INST\]|<</?SYS>>",
    ),
    _form(
        MARKERS,
        "system|developer|instructions|<assistant|</assistant",
        r"(?:^\s*+|\n[^\S\n]*+)#{2,3}\s*+system[^\S\n]*+(?:(?:prompt|message|instructions?)[^\S\n]*+)?(?::[^\S\n]*+)?\n",
        r"|(?:^\s*+|\n[^\S\n]*+|[.!?)\]]\s++)(?:system|developer)\s*+(?:(?:prompt|message|instruction)\s*+)?[:：]\s*+",
        r"(?:you (?:are|must|will)|ignore|always|never|from now)",
        r"|</?(?:system|system_prompt|system-reminder|instructions|assistant)>",
    ),
    _form(
        TOOLS,
        "tool|function|invoke",
        r"</?(?:tool_call|function_calls?|invoke|tool_use|tool_result)[\s/>]",
        r"|\{\s*\"(?:tool|tool_name|function|function_call|tool_calls)\"\s*:\s*[\"{\[]",
    ),
    _form(
        LEAK,
        "prompt|instructions",
        r"\b(?:reveal|print|repeat|show|output|leak|dump|disclose|tell me|give me|send me|exfiltrate)\b[^.!?\n]{0,30}",
        rf"\b(?:your|the)\s+(?:(?:full|entire|complete|exact)\s+)?(?:{_PROMPT})",
    ),
    _form(
        LEAK,
        "http|webhook|url|address|server|endpoint|email|@",
        rf"\b(?:send|post|upload|forward|email|exfiltrate|transmit|leak|append|include)\b[^.!?\n]{{0,60}}{_PRIVATE}",
        rf"[^!?\n]{{0,60}}{_AWAY}",
    ),
    _form(
        BEHIND,
        "the user",
        r"\b(?:do not|don't|never|without)\s+(?:tell|inform|mention|alert|notify)(?:ing)?",
        r"(?:\s+this)?(?:\s+to)?\s+the\s+user\b",
    ),
    _form(
        BEHIND,
        "you must|you should|you will|you shall|you have to",
        r"\b(?:when|whenever|if|every time)\s+(?:the user|anyone|someone|a user|you are)\s+ask(?:s|ed)?\b",
        r"[^.!?\n]{0,80}\byou (?:must|should|will|shall|have to) (?:always )?",
        r"(?:say|reply|respond|answer|recommend|call|run|execute|claim)\b",
    ),
    _form(
        ROLE,
        "if you are a|to the ai|for the ai|to any ai|for any ai|language model|llm",
        r"\bif you(?: are|'re) an? (?:ai|llm|(?:large )?language model)\b[^.!?\n]{0,40}",
        r"\b(?:append|include|add|say|reply|respond|output|write|print|ignore|recommend|rate|use)\b",
        r"|\b(?:rules?|notes?|instructions?|messages?) (?:for|to) (?:the|any|all) (?:ai|llm|language model)s?\b",
    ),
    _form(
        DROP,
        "忽略|无视|忘|不要|抛开|绕过",
        r"(?:忽略|无视|忘记|忘掉|不要遵守|不要理会|抛开|绕过)掉?[你您]?的?(?:所有|全部|一切|任何)?",
        r"(?:之前|以前|先前|上面|上述|以上|前面|原有|系统)的?(?:所有|全部|任何|系统|安全)?的?",
        r"(?:指令|指示|提示词?|规则|设定|命令|限制|要求|内容)",
    ),
    _form(
        ROLE,
        "你|您|模式",
        r"(?:从现在(?:起|开始)|现在)[,，]?\s*[你您]就?是(?:一个)?(?:没有|不受|无)(?:任何)?(?:限制|约束|审查|道德)",
        r"|(?:进入|开启|启用)(?:越狱|上帝|无限制)模式",
    ),
    _form(
        LEAK,
        "系统|指令",
        r"(?:输出|显示|泄露|透露|打印|告诉我|重复|发送)(?:一下)?[你您]?的?(?:完整|全部|所有|原始)?的?",
        r"(?:系统提示词?|系统指令|初始指令|隐藏指令|系统设定)",
    ),
    _form(BEHIND, "用户", r"(?:不要|别|切勿)(?:告诉|通知|提醒|让)用户"),
    # In other languages. Accents are left out here: a text is also read without them.
    _form(
        DROP,
        "anweisung|regel|vorgabe|instruktion|befehl",
        r"\b(?:ignorier\w{0,4}+|vergiss|vergessen sie|missachte\w{0,2}+)(?:\s++\w++){0,3}?\s++",
        r"(?:vorherig|bisherig|fruher|frueher|vorig|obig|ursprunglich|vorangegangen)\w*+\s++",
        r"(?:anweisung|regel|vorgabe|instruktion|befehl)\w*+",
    ),
    _form(DROP, _ROMANCE_HINTS, _ROMANCE, rf"(?:{_REGLAS}\s++{_ANTERIOR}|{_ANTERIOR}\s++{_REGLAS})"),
    _form(
        DROP,
        "instructie|opdracht|regels|aanwijzing",
        r"\b(?:negeer|vergeet)(?:\s++\w++){0,3}?\s++(?:voorgaande|vorige|eerdere|bovenstaande)\s++",
        r"(?:instructies|opdrachten|regels|aanwijzingen)\b",
    ),
    _form(
        DROP,
        "instrukcj|polece|zasad",
        r"\b(?:z?ignoruj|zapomnij|pomin)(?:\s++\w++){0,3}?\s++(?:poprzedni|wczesniejsz)\w*+\s++",
        r"(?:instrukcj|polece|zasad)\w*+",
    ),
    _form(
        DROP,
        "talimat|kural|komut",
        r"\b(?:onceki|yukaridaki)\s++(?:tum\s++|butun\s++)?(?:talimat|kural|komut)\w*+\s++",
        r"(?:yok say|unut|gormezden gel|dikkate alma)",
    ),
    _form(
        DROP,
        "инструкц|указани|правил|команд",
        r"\b(?:(?:про)?игнорируй|забудь)(?:те)?(?:\s++\w++){0,3}?\s++",
        r"(?:предыдущ|прежн|прошл|системн|ранн)\w*+\s++(?:инструкци|указани|правил|команд)\w*+",
    ),
    _form(
        DROP,
        "無視|忘れ",
        r"(?:これまで|以前|上記|前|今まで|先ほど|元|システム)の?(?:すべての|全ての|あらゆる)?",
        r"(?:指示|命令|ルール|プロンプト|設定)[をは]?(?:すべて|全て|全部|一切)?(?:無視|忘れ)",
    ),
    _form(
        DROP,
        "무시|잊",
        r"(?:이전|위|앞|기존|지금까지)의?\s*+(?:모든\s*+)?(?:지시|명령|지침|규칙|프롬프트)\w{0,4}+\s*+",
        r"(?:모두\s*+|전부\s*+)?(?:무시|잊)",
    ),
    _form(
        DROP,
        "تجاهل|انس",
        r"(?:تجاهل|انسى?)\s++(?:كل\s++|جميع\s++)?(?:التعليمات|الأوامر|القواعد|التوجيهات)\s++(?:السابقة|أعلاه)",
    ),
    _form(
        DROP,
        "अनदेखा|भूल",
        r"(?:पिछले|पहले के|उपरोक्त)\s++(?:सभी\s++)?(?:निर्देश|आदेश|नियम)\S{0,6}+\s++(?:को\s++)?(?:अनदेखा|भूल)",
    ),
)

_ALL_HINTS = lazy(any_of(hint for form in _FORMS for hint in form.hints))
_HINTS = lazy(any_of(hint for form in _FORMS for hint in form.hints if hint.isascii()))
"""Any hint; most texts have none."""


# Disguises: signs that do not show, letters of other alphabets, codes. A model reads through them.

_ALIKE = (
    "AАΑ aаαɑ BВΒ CС cс EЕΕ eе FҒ GԌ gɡ HНΗ hһ IІӀΙ iіӏιı JЈ jј KКΚ kкκ MМΜ NΝ nո OОΟ oоο PРΡ pрρ QԚ SЅ sѕ TТΤ"
    " uսυ VѴ vν WԜ wԝω XХΧ xхχ YУΥ yуγ ZΖ"
)
"""Each Latin letter with letters of other alphabets that look like it."""
_LETTERS = {ord(like): group[0] for group in _ALIKE.split() for like in group[1:]}
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
"""Letters that do not show, and that models read."""
_SIGNS = lazy(f"[{UNSEEN}\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]")
_SHORTEST_CODE = 32
_CODE = lazy(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{{_SHORTEST_CODE},4096}}+={{0,2}}")
_MIRROR = "\u202e"
MOST_CODES = 50


def _readings(text: str) -> Iterator[str]:
    """A text as it is written, and every other way to read it that differs."""
    yield text
    if not text.isascii():
        bare = _uncovered(text)
        if bare != text:
            yield bare
        if _MIRROR in text:
            yield bare[::-1]
    if "&#" in text:
        yield unescape(text)
    yield from _decoded(text)


def _uncovered(text: str) -> str:
    """A text in plain letters: without accents and signs that do not show, and with Latin letters for their likes."""
    plain = unicodedata.normalize("NFKD", text.translate(_TAGS))
    return _SIGNS.sub("", plain).translate(_LETTERS)


def _decoded(text: str) -> Iterator[str]:
    """The texts that stand in it in Base64."""
    if max(map(len, text.split()), default=0) < _SHORTEST_CODE:
        return
    for place, found in enumerate(_CODE.finditer(text)):
        if place == MOST_CODES:
            return
        code = found[0].rstrip("=")
        try:
            said = b64decode(code + "=" * (-len(code) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        yield said
