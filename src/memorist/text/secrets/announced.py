"""Secrets that a word announces: passwords, PINs and codes, and tokens without a form of their own."""

from __future__ import annotations

from collections.abc import Sequence

from memorist.text.secrets.form import Form, form, ignoring_case
from memorist.text.secrets.values import (
    is_assigned,
    is_given,
    is_random,
    is_random_not_uuid,
    is_said,
    is_said_or_number,
    is_strong,
)

_PASSWORD = (
    r"(?:pass(?:word|wd|phrase|code|wort)|pwd|kennwort|wachtwoord|lösenord|contrase(?:ñ|n)a|mot de passe|senha|hasło"
    r"|пароль)"
)
_SHORT = r"(?<![A-Za-z])(?:pass|pw|mdp|clave|parola)(?![A-Za-z])"
"""Words for a password that mean something else, too."""
_HINTS = "pass pwd pw kennwort wachtwoord lösenord contrase senha hasło пароль mdp clave parola"
_MEANS = r"(?:is|was|are|ist|war|lautet|es|era|est|était|c'est|é|è|'s|’s|s'écrit)"
_NOW = r"(?: (?:now|still|currently|jetzt|ahora|agora|adesso|maintenant))?"
_OF = r"(?: (?:for|to|of|at|on|in|für|zum|von|vom|im|del|de|du|da|do|di|der|des|van|voor|pour|para|per)\b[^.,;!?\n]{1,40}?)?"
_ABOUT = r"(?! (?:manager|policy|reset|length|field|hash|generator|change|prompt|strength|rules?|hint))"
_SIGN = r"\s{0,4}(?:=>?|:(?!//)|：|＝|->|→)\s{0,4}"
_QUOTED = r"\"[^\"\n]{3,100}\"|'[^'\n]{3,100}'|`[^`\n]{3,100}`|“[^”\n]{3,100}”|„[^“”\n]{3,100}[“”]|«[^»\n]{3,100}»"
_VALUE = rf"(?P<it>{_QUOTED}|[^\s\"'`“”<>]{{3,80}}(?<![.,;:)\]]))"
"""A value in a sentence, without the punctuation after it."""

PASSWORDS: Sequence[Form] = (
    ignoring_case(
        "password",
        r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}+://[^\s:/@]{0,60}+:(?P<it>[^\s/@]{3,100}+)@(?=[\w.\[-])",
        "://",
        is_given,
    ),
    ignoring_case(
        "password",
        rf"(?:{_PASSWORD}|(?<![A-Za-z])(?:pass|pw|mdp))(?:_?\d)?['\"]?(?: ?\([^()\n]{{1,30}}\))?{_SIGN}"
        rf"(?P<it>{_QUOTED}|[^\s,;'\"<>]{{4,100}}(?<![.,;:)\]]))",
        _HINTS,
        is_assigned,
    ),
    ignoring_case(
        "password",
        rf"(?:\b{_PASSWORD}|{_SHORT}){_ABOUT}(?: \w{{2,15}})??{_OF}(?: ?{_MEANS}|{_SIGN}| -){_NOW}\s{{0,3}}{_VALUE}",
        _HINTS,
        is_said,
    ),
    ignoring_case("password", rf"\b{_PASSWORD}{_OF} {_MEANS}{_NOW} (?P<it>\d{{4,20}})(?![\w.,:/-]*\w)", _HINTS),
    ignoring_case(
        "password",
        rf"\b(?:set|chang\w{{1,3}}|reset|updat\w{{1,3}}|switched)\b[^.,;\n]{{0,40}}?\b{_PASSWORD}{_OF} to {_VALUE}",
        _HINTS,
        is_said,
    ),
    ignoring_case(
        "password", rf"\b(?:{_PASSWORD}|pass|requirepass|identified by)s? {_VALUE}", f"{_HINTS} identified", is_strong
    ),
    form(
        "password",
        r"(?:密码|密碼|口令|パスワード|비밀번호)\s?(?:是|为|為|は|는|은|[:：=])?\s?(?P<it>[!-~]{4,60})",
        "密 口令 パス 비밀",
        is_said,
    ),
    ignoring_case(
        "password",
        r"\b(?:login|log-in|creds?|credentials|zugangsdaten|user(?:name)?)\b(?: are| is|:)?[ ][^\s/:]{1,40}"
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

_OPTION = rf"(?P<it>{_QUOTED}|[^\s'\"|;-][^\s'\"|;]{{2,100}})"
COMMANDS: Sequence[Form] = (
    ignoring_case(
        "password",
        r"\b(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-u|--user|--proxy-user)[ =]?['\"]?[^\s:'\"]{1,60}:(?P<it>[^\s'\"]{3,100})",
        "curl wget http",
        is_given,
    ),
    form(
        "password",
        rf"\b(?:mysql\w*|mariadb\w*|7z\w?|sshpass)\b[^\n|;]{{0,150}}?\s-p{_OPTION}",
        "mysql mariadb 7z sshpass",
        is_given,
    ),
    form(
        "password",
        rf"\b(?:sshpass|docker login|podman login|helm registry login|mongo\w*)\b[^\n|;]{{0,150}}?\s-p {_OPTION}",
        "sshpass login mongo",
        is_given,
    ),
    form("password", rf"\b(?:redis-cli)\b[^\n|;]{{0,150}}?\s(?:-a|--pass) {_OPTION}", "redis-cli", is_given),
    form("password", rf"\b(?:un)?zip\b[^\n|;]{{0,150}}?\s-P ?{_OPTION}", "zip", is_given),
    form("password", rf"\bopenssl\b[^\n|;]{{0,150}}?\s-(?:k |pass(?:in|out)? pass:){_OPTION}", "openssl", is_given),
    form("password", rf"\s-U [^\s%]{{1,60}}%{_OPTION}", "-u ", is_given),
    form("password", rf"\becho {_OPTION} ?\| ?sudo -S", "sudo -s", is_given),
    ignoring_case(
        "password", rf"\s--?(?:pass(?:word|wd|phrase)?|pwd|secret)[ =]{_OPTION}", "-pass -pwd -secret", is_strong
    ),
)

_NUMBER = r"(?P<it>[#*]?\d{4,8}#?)(?![\w-]|[.,:/]\d)"
_CODE = r"(?P<it>[#*]?(?:\d{3,8}[A-Z]?|[A-Z]\d{3,7}|\d{1,2}(?:[- ]\d{1,2}){2,3})#?)(?![\w-]|[.,:/]\d)"
_ONCE = r"(?P<it>(?:[A-Z]-)?(?:\d{4,8}|\d{3}[ -]\d{3}))(?![\w-]|[.,:/]\d)"
_IS = rf"(?:(?: ?{_MEANS}|{_SIGN}){_NOW}\s{{0,3}})"
_PLACES = (
    r"(?:front |back )?(?:door|gate|garage|alarm|safe|lock ?box|locker|padlock|bike lock|lock|entry|entrance|access|building"
    r"|keypad|unlock|screen|phone|voicemail)"
)
_ORTE = (
    r"(?:puerta|alarma|portal|garaje|entrada|caja fuerte|porte|immeuble|alarme|portail|entrée|coffre|digicode|porta)"
)
CODES: Sequence[Form] = (
    ignoring_case(
        "PIN",
        rf"(?<![A-Za-z])(?:pin|puk|geheimzahl|geheimnummer)(?:[- ]?(?:code|number|nummer|no\.?))?{_OF}{_IS}{_NUMBER}",
        "pin puk geheim",
    ),
    form("PIN", rf"(?<![A-Za-z])(?:PIN|PUK|(?:card|voicemail|sim|phone|bank|atm|debit) pin) {_NUMBER}", "pin puk"),
    ignoring_case("code", rf"\b{_PLACES} (?:code|combination|combo){_OF}{_IS}{_CODE}", "code combination combo"),
    ignoring_case(
        "code",
        rf"\b(?:code|combination|combo) (?:for|to|of|on) (?:the |my |our |her |his )?(?:\w{{1,12}} )?{_PLACES}{_IS}{_CODE}",
        "code combination combo",
    ),
    ignoring_case(
        "code",
        rf"\b(?:c[oó]digo|clave|code|codice) (?:de l'|de la |de el |del |du |de |della |da |do )(?:\w{{1,12}} )?{_ORTE}{_IS}{_CODE}",
        "digo clave code codice",
    ),
    ignoring_case("code", rf"(?:tür|tor|alarm|safe|schloss|zugangs|haus)-?code{_OF}{_IS}{_CODE}", "code"),
    ignoring_case("card code", r"\b(?:cvv2?|cvc2?)\b[^\d\n]{0,10}?(?P<it>\d{3,4})(?!\w|[.,]\d)", "cvv cvc"),
    ignoring_case(
        "one-time code",
        r"(?:\b(?:verification|one[- ]time|security|log-?in|sign-?in|authentication|auth|2fa|mfa|two-factor|sms|access"
        r"|activation|login|reset) (?:code|password|passcode|pin)|\botp|bestätigungscode|sicherheitscode|anmeldecode"
        r"|verifizierungscode|einmalpasswort|\bc[oó]digo de (?:verificaci[oó]n|seguridad|acceso|verifica[cç][aã]o)"
        r"|\bcode de (?:v[ée]rification|s[ée]curit[ée]|confirmation)|\bcodice di verifica|验证码|驗證碼|認証コード)"
        rf"(?:{_OF}{_IS}|\s?[是为:：]?\s?){_ONCE}",
        "code one-time otp digo codice einmal 验证 驗證 認証",
    ),
    ignoring_case(
        "one-time code",
        r"(?<![\w.,-])(?P<it>(?:G-)?\d{4,8}|\d{3}[ -]\d{3}) (?:is your|ist (?:ihr|dein)|es (?:tu|su)|est votre|é o seu)"
        r"\b[^.\n]{0,40}?(?:code|c[oó]digo|otp|pin|passcode)",
        "code digo otp pin",
    ),
    ignoring_case(
        "recovery code",
        r"\b(?:backup|recovery|emergency|scratch|wiederherstellungs) ?codes?\b[^\w\n]{0,5}\s{0,3}"
        r"(?P<it>(?:(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,3}[\s,;]{0,3}){1,20}+)",
        "codes code",
    ),
)

_OPEN = "public primary foreign cache partition sort idempotency translation object row host routing".split()
"""Keys that are no secret."""
_KEY = "key" + "".join(rf"(?<!{word}key)(?<!{word}[ _-]key)" for word in _OPEN)
_NAMED = rf"(?:{_KEY}|token|secret|credential|schlüssel)s?"
TOKENS: Sequence[Form] = (
    ignoring_case(
        "token",
        rf"{_NAMED}(?:[_-](?:base|data|value))?['\"]?(?:{_SIGN}|\s{{1,3}}is\s{{1,3}}|\s?是\s?)['\"]?"
        r"(?P<it>[A-Za-z0-9+/_.~:-]{16,400}+={0,2})",
        "key token secret credential schlüssel",
        is_random,
    ),
    ignoring_case(
        "token",
        rf"(?:{_NAMED}\b|密钥|令牌)[^.\n]{{0,40}}?(?<![\w/.-])"
        r"(?P<it>(?=[A-Za-z0-9_-]{0,200}?\d)[A-Za-z0-9_-]{24,200})(?![\w/.-]{0,200}/)",
        "key token secret credential 密钥 令牌",
        is_random_not_uuid,
    ),
    ignoring_case(
        "token", r"(?:totp|2fa|mfa|otp)[ -](?:secret|key|seed)[^\w\n]{1,4}(?P<it>[A-Z2-7]{16,64})\b", "totp 2fa mfa otp"
    ),
    ignoring_case(
        "token",
        r"[?&](?:sig|signature|x-amz-signature|access_token|token|apikey|auth|secret)=(?P<it>[^\s&\"'<>]{16,400})",
        "sig signature token= apikey= auth= secret=",
        is_random,
    ),
    ignoring_case(
        "token",
        r"\bcookie\b[^\n]{0,200}?\b\w{0,20}(?:sess|sid|auth|token)\w{0,20}=(?P<it>[^\s;\"']{16,400})",
        "cookie",
        is_random,
    ),
    ignoring_case(
        "token",
        r"\bauthorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:\w{1,12} )?(?P<it>[A-Za-z0-9._~+/-]{16,400})",
        "authorization",
        is_random,
    ),
)
