"""What counts as a date in Chinese, and what looks like one and does not."""

from memorist.text.dates.chinese.atoms import chinese
from memorist.text.dates.chinese.guards import clear

chinese.ignore(
    "no_date",
    "每|每个|每一|每逢|每隔 <weekday>",
    "每|每个|每一|每逢|每隔 <unit>",
    "每|每隔 <amount>",
    "每 <day_part>",
    "每 月|年|周 <day_value>",
    "每 <holiday>",
    "每 日|晚|早",
    "《 <moment>",
    "今日头条|明日之后",
    "马上|立刻|以上|以下|一下",
    "公元前 <number> 年|世纪",
)

chinese.union("expression", "<moment>", "<shifted>", "<window>", "<span>", when=clear)
chinese.union("expression", "<no_date>")
