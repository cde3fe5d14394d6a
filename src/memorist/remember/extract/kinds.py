"""What sort of thing a name names: a person, a place, an organisation, a product, or just a name."""

from __future__ import annotations

import re

from memorist.remember.extract.gazetteer import FIRST_NAMES, PLACES
from memorist.remember.extract.lexicon import KIN, LANGUAGES, word_set

_PLACE_WORDS = word_set(
    """
    street avenue road lane boulevard square park lake river creek beach mountain mountains island islands city
    county valley bay hill hills bridge airport station canyon falls forest desert coast village district
    harbour harbor peninsula"""
)
_PLACE_LEADS = word_set("lake mount mt fort port san santa saint st cape isle")
_ORGANISATION_WORDS = word_set(
    """
    inc corp corporation ltd llc gmbh ag plc co university college school institute academy bank hospital
    company foundation association club church museum council department agency group labs studio studios
    airlines airways society committee ministry union partners restaurant bakery cafe league team orchestra"""
)
_ORGANISATIONS = word_set(
    """
    google apple microsoft amazon facebook meta netflix spotify tesla nasa fbi cia openai anthropic ibm intel
    nvidia samsung sony nintendo toyota honda ford bmw nike adidas ikea starbucks walmart target costco uber
    lyft airbnb twitter linkedin github youtube instagram tiktok reddit mit harvard stanford yale oxford
    cambridge unicef nato eu un bbc cnn disney pixar mcdonald's boeing airbus siemens oracle adobe salesforce
    paypal stripe ebay huawei tencent alibaba baidu xiaomi"""
)
_PRODUCT = re.compile(
    r"[A-Z]?[a-z]+[A-Z]|.*\b(?:iPhone|iPad|MacBook|Xbox|PlayStation|Kindle|GoPro|Switch|Galaxy|Pixel|Prius|Civic|Model)\b"
    r"|[A-Z][\w-]*(?:-\d+\w*|\s\d{1,4}\b|\d+\w*)$"
)
_TITLED = re.compile(
    r"\b(?:mr|mrs|ms|miss|dr|prof|professor|aunt|uncle|sir|president|captain|coach)\.?\s+$", re.IGNORECASE
)
_KIN_BEFORE = re.compile(rf"\b(?:{'|'.join(KIN)}),?\s+(?:named\s+|called\s+)?$", re.IGNORECASE)
_WHERE_BEFORE = re.compile(
    r"\b(?:live|lives|living|lived|moved|moving|trip|travel\w*|flew|fly|flight|drive|drove|vacation|born|based|back|visit\w*)"
    r"\s+(?:back\s+)?(?:in\s+|to\s+|from\s+|around\s+)?(?:the\s+)?$|\bin\s+(?:downtown\s+)?$|\bnear\s+$",
    re.IGNORECASE,
)
_WORK_BEFORE = re.compile(
    r"\b(?:work|works|worked|working|job|employed|intern\w*)\s+(?:at|for|with)\s+(?:the\s+)?$|\bjoined\s+$",
    re.IGNORECASE,
)


def kind_of(name: str, before: str) -> str:
    """The kind of a name, from its words and from what stands before it: `in`, `my sister`, `works at`."""
    words = name.lower().replace(".", "").split()
    if name.lower() in PLACES or words[-1] in _PLACE_WORDS or (len(words) > 1 and words[0] in _PLACE_LEADS):
        return "place"
    if name.lower() in _ORGANISATIONS or (len(words) > 1 and _ORGANISATION_WORDS & set(words)):
        return "organisation"
    if _TITLED.search(before) or _KIN_BEFORE.search(before) or words[0] in FIRST_NAMES:
        return "person"
    if _PRODUCT.match(name):
        return "product"
    if words[0] in LANGUAGES:
        return "language"
    if _WORK_BEFORE.search(before):
        return "organisation"
    return "place" if _WHERE_BEFORE.search(before) else "name"
