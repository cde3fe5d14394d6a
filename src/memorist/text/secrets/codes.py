"""PINs, door codes, codes of cards, and codes that are sent once."""

from __future__ import annotations

from collections.abc import Sequence

from memorist.text.secrets.form import IS, OF, SecretFormat, form, ignoring_case

_END = r"(?![\w%]|-\w|[.,:/]\d| (?:lines|characters|chars|files|digits|zeilen|words|bytes|pins|mm|euros?|dollars)\b)"
_NUMBER = rf"(?P<it>[#*]?\d{{4,8}}#?){_END}"
_CODE = rf"(?P<it>[#*]?(?:\d{{3,8}}[A-Z]?|[A-Z]\d{{3,7}}|\d{{1,2}}(?:[- ]\d{{1,2}}){{2,3}})#?){_END}"
_ONCE = rf"(?P<it>(?:[A-Z]-)?(?:\d{{4,8}}|\d{{3}}[ -]\d{{3}})){_END}"
_PIN = (
    r"(?<![A-Za-z])(?:pin|puk|tan|geheimzahl|geheimnummer)(?:[- ]?(?:code|number|nummer|no\.?))?"
    r"(?! (?:count|badge|map))"
)
_PLACE = (
    r"(?:(?:front |back )?(?:door|gate|garage|alarm|safe|lock ?box|locker|padlock|bike lock|lock|entry|entrance|access"
    r"|building|keypad|unlock|screen|phone|voicemail|security|house|shed|vault)|haustür|tür|tor|zugangs|tresor|schloss|fahrrad"
    r"|alarmanlage|puerta|alarma|portal|garaje|entrada|caja fuerte|porte|immeuble|alarme|portail|entrée|coffre|porta)"
)
_THE = r"(?:de l'|de la |de el |del |du |de |della |da |do |(?:for|to|of|on|für|zum|zur|vom|von) )(?:\w{1,12} ){0,2}?"
_SENT = (
    r"(?:\b(?:verification|one[- ]time|security|log-?in|sign-?in|authentication|auth|2fa|mfa|two-factor|sms|access"
    r"|activation|reset|whatsapp|telegram|signal|apple id|google|microsoft|facebook|instagram|steam guard|paypal|amazon"
    r"|uber|bank|discord|tiktok|snapchat|linkedin) (?:code|password|passcode|pin)|\botp"
    r"|\byour (?!(?:zip|postal|area|country|error|product|booking|promo|discount|course|order|dress|bar|qr|source|gift"
    r"|voucher|coupon|customer|reference|tracking|tax|flight)\b)(?:[\w-]{1,15} ){0,3}code"
    r"|\b(?:ihr|dein|su|tu|votre|ton|seu|il tuo) (?:code|c[oó]digo|codice)"
    r"|bestätigungscode|sicherheitscode|anmeldecode|verifizierungscode|einmalpasswort|einmalcode"
    r"|\bc[oó]digo de (?:verificaci[oó]n|seguridad|acceso|verifica[cç][aã]o|confirmaci[oó]n)"
    r"|\bcode de (?:v[ée]rification|s[ée]curit[ée]|confirmation|connexion|validation)|\bcodice di verifica"
    r"|验证码|驗證碼|認証コード)"
)

CODES: Sequence[SecretFormat] = (
    ignoring_case("PIN", rf"{_PIN}{OF}{IS}{_NUMBER}", "pin puk tan geheim"),
    form(
        "PIN", rf"(?<![A-Za-z])(?:PIN|PUK|TAN|(?:card|voicemail|sim|phone|bank|atm|debit) pin) {_NUMBER}", "pin puk tan"
    ),
    ignoring_case(
        "code", rf"\b{_PLACE}[ -]?(?:code|combination|combo|kombination)(?:{OF}{IS}| ){_CODE}", "code combi combo kombi"
    ),
    ignoring_case(
        "code",
        rf"\b(?:code|combination|combo|kombination|c[oó]digo|clave|codice) {_THE}{_PLACE}{IS}{_CODE}",
        "code combi combo kombi digo clave codice",
    ),
    ignoring_case("code", rf"\b(?:{_PLACE} (?:opens|unlocks) with|keypad:?) {_CODE}", "opens unlocks keypad"),
    ignoring_case("card code", r"\b(?:cvv2?|cvc2?)\b[^\d\n]{0,10}?(?P<it>\d{3,4})(?!\w|[.,]\d)", "cvv cvc"),
    ignoring_case(
        "one-time code",
        rf"{_SENT}(?:{OF}{IS}|\s?[是为:：]?\s?){_ONCE}",
        "code one-time otp digo codice einmal 验证 驗證 認証",
    ),
    form("one-time code", r"\b[Ss]team [Gg]uard(?: [Cc]ode)?(?: is|:)? (?P<it>[A-Z0-9]{5})\b", "steam guard"),
    ignoring_case(
        "one-time code",
        r"(?<![\w.,-])(?P<it>(?:G-)?\d{4,8}|\d{3}[ -]\d{3}) (?:is (?:your|the|my)|ist (?:ihr|dein)|es (?:tu|su)"
        r"|est votre|é o seu)\b(?! (?:zip|postal|area|country|error|product|booking|order|exit|status))[^.\n]{0,40}?"
        r"(?:code|c[oó]digo|otp|\bpin\b|passcode)",
        "code digo otp pin",
    ),
    ignoring_case(
        "one-time code",
        rf"\b(?:enter|use|type)(?: code| otp)? {_ONCE} to (?:verify|confirm|log ?in|sign ?in|complete|authori[sz]e)",
        "enter use type",
    ),
    ignoring_case(
        "recovery code",
        rf"\b(?:backup|recovery|emergency|scratch|wiederherstellungs) ?codes?\b{OF}(?: are| is| sind)?[^\w\n]{{0,5}}"
        r"\s{0,3}(?P<it>(?:(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,3}[\s,;]{0,3}){1,20}+)",
        "codes code",
    ),
)
