"""Keys and tokens: those with a form of their own, private keys, and those that a name announces."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memorist.text.secrets.form import SIGN, SecretFormat, form, ignoring_case
from memorist.text.secrets.values import is_random, is_random_not_uuid

_EDGE, _STOP = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9_-])"
"""A key may follow a hyphen or an underscore: people join it to a name."""
_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"

_OTHERS = (
    "lin_api_ ntn_ figd_ glsa_ glc_ hvs. hvb. dckr_pat_ sbp_ pscale_tkn_ gsk_ xai- pplx- r8_ nrak- sntrys_ sntryu_ "
    "pmak- atatt3 atbb ccipat_ dp.pt. dp.st. tskey- nfp_ rnd_ pul- rubygems_ key- fo1_ hrku- sgp_ apify_api_ secret_ "
    "ops_ey lsv2_ tvly- jina_ sk-or-v1-"
)
"""The beginnings of keys of which only letters, digits, hyphens and underscores follow, at least 20 and random."""

VENDORS: Sequence[SecretFormat] = (
    form(
        "private key",
        rf"{_BEGIN}(?:(?:(?!-----).)*+-----END (?:[A-Z0-9]{{1,12}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:\s|\\n)*+(?:[A-Za-z0-9+/=]{20,}+(?:\s|\\n)*+)++)",
        "-----begin",
        flags=re.DOTALL,
    ),
    form("private key", r"AGE-SECRET-KEY-1[0-9A-Za-z]{40,80}", "age-secret-key-1", flags=re.IGNORECASE),
    form("private key", rf"{_EDGE}nsec1[02-9ac-hj-np-z]{{58}}{_STOP}", "nsec1"),
    form("private key", r"Private-Lines: \d{1,4}\s++(?P<it>(?:[A-Za-z0-9+/=]{20,}+\s*+)++)", "private-lines"),
    form("JSON web token", r"(?<![A-Za-z0-9_-])eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+", "eyj"),
    form("AWS key", rf"{_EDGE}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_STOP}", "akia asia abia acca"),
    ignoring_case(
        "AWS secret key",
        r"aws.{0,20}?(?:secret|key).{0,20}?['\"= :](?P<it>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "aws",
        is_random,
    ),
    form(
        "GitHub token",
        rf"{_EDGE}(?:gh[pousr]_[A-Za-z0-9]{{36,}}|github_pat_\w{{22,}})",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
    ),
    form("GitLab token", rf"{_EDGE}gl(?:pat|ptt|dt|rt|cbt)-[\w-]{{20,}}", "glpat- glptt- gldt- glrt- glcbt-"),
    form(
        "Slack token",
        rf"{_EDGE}xox[abeoprs]-(?:\d{{1,20}}-)?[\w-]{{10,}}|{_EDGE}xapp-\d-[\w-]{{10,}}",
        "xox xapp-",
        is_random,
    ),
    form(
        "Slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<it>\w{6,20}/\w{6,20}/(?:\d{6,20}/)?\w{16,})",
        "hooks.slack.com",
    ),
    form("Discord token", rf"{_EDGE}[MNO][\w-]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,45}}{_STOP}", ".", is_random),
    form("Discord webhook", r"discord(?:app)?\.com/api/webhooks/\d{15,22}/(?P<it>[\w-]{40,})", "discord"),
    form("Anthropic key", rf"{_EDGE}sk-ant-[\w-]{{20,}}", "sk-ant-"),
    form("OpenAI key", rf"{_EDGE}sk-(?:(?:proj|svcacct|admin)-[\w-]{{20,}}|[A-Za-z0-9]{{20,200}})", "sk-", is_random),
    form(
        "Google key",
        rf"{_EDGE}AIza[\w-]{{35}}{_STOP}|{_EDGE}GOCSPX-[\w-]{{20,}}|{_EDGE}ya29\.[\w-]{{20,}}",
        "aiza gocspx- ya29.",
    ),
    form(
        "Stripe key",
        rf"{_EDGE}(?:[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}|whsec_[A-Za-z0-9]{{24,}})",
        "k_live_ k_test_ whsec_",
    ),
    form("Hugging Face token", rf"{_EDGE}hf_[A-Za-z0-9]{{30,}}", "hf_", is_random),
    form("npm token", rf"{_EDGE}npm_[A-Za-z0-9]{{36}}{_STOP}", "npm_"),
    form("PyPI token", rf"{_EDGE}pypi-AgEI[\w-]{{50,}}", "pypi-agei"),
    form("SendGrid key", rf"{_EDGE}SG\.[\w-]{{16,40}}+\.[\w-]{{16,}}", "sg."),
    form("Telegram token", rf"{_EDGE}\d{{8,10}}:AA[\w-]{{33}}{_STOP}", ":aa"),
    form("DigitalOcean token", rf"{_EDGE}do[opr]_v1_[0-9a-f]{{64}}", "_v1_"),
    form("Shopify token", rf"{_EDGE}shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}", "shp"),
    form("Mailchimp key", rf"{_EDGE}[0-9a-f]{{32}}-us\d{{1,2}}{_STOP}", "-us"),
    form("Facebook token", rf"{_EDGE}(?:EAA[A-Za-z0-9]{{80,}}|\d{{15,16}}\|[\w-]{{27}}{_STOP})", "eaa |"),
    form("Firebase key", rf"{_EDGE}AAAA[\w-]{{7}}:APA91b[\w-]{{100,}}", ":apa91b"),
    form("Databricks token", rf"{_EDGE}dapi[0-9a-f]{{32}}", "dapi"),
    form("Azure secret", r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])", "q~"),
    form("Azure key", r"AccountKey=(?P<it>[A-Za-z0-9+/]{60,}+={0,2})", "accountkey="),
    ignoring_case(
        "token",
        rf"{_EDGE}(?:{'|'.join(re.escape(word) for word in _OTHERS.split())})(?=[\w.-]{{20}})[\w.-]{{20,300}}",
        _OTHERS,
        is_random,
    ),
    ignoring_case("bearer token", r"\bbearer[ :]{1,3}(?P<it>[A-Za-z0-9._~+/-]{16,2000}+=*+)", "bearer", is_random),
)

_OPEN = (
    "public",
    "primary",
    "foreign",
    "cache",
    "partition",
    "sort",
    "idempotency",
    "translation",
    "object",
    "row",
    "host",
)
"""Keys that are no secret."""
_KEY = "key" + "".join(rf"(?<!{word}key)(?<!{word}[ _-]key)" for word in _OPEN)
_NAMED = rf"(?:{_KEY}|token|secret|credential|schlüssel)s?"
TOKENS: Sequence[SecretFormat] = (
    ignoring_case(
        "token",
        r"(?:api|access|auth|secret|server|account|license|licence)[ _-]?(?:key|token)s?[ :=]{1,3}(?:is )?['\"]?"
        r"(?P<it>[A-Za-z0-9_-]{16,400})(?![\w/.-])",
        "key token",
        is_random,
    ),
    ignoring_case(
        "token",
        rf"{_NAMED}(?:[_-](?:base|data|value))?['\"]?(?:{SIGN}|\s{{1,3}}is\s{{1,3}}|\s?是\s?)['\"]?"
        r"(?P<it>[A-Za-z0-9+/_.~:-]{16,400}+={0,2})",
        "key token secret credential schlüssel",
        is_random,
    ),
    ignoring_case(
        "token",
        rf"(?:{_NAMED}\b|密钥|令牌)[^.\n]{{0,40}}?(?<![\w/.-])(?<!SHA256:)"
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
    ignoring_case(
        "token",
        r"(?<![A-Za-z])(?:phpsessid|jsessionid|(?:asp\.net_)?session_?(?:id|token|key)?|connect\.sid|sid)=(?P<it>[^\s;,\"'&]{16,400})",
        "sess sid=",
        is_random_not_uuid,
    ),
)
