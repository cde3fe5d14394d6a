"""Standing wishes are told from what merely happened, with the situation they apply to; requests from questions."""

from __future__ import annotations

import pytest

from memorist.text.wishes import LONGEST, is_request, standing_wish

SITUATIONS = {
    "When you write to Tom Whitaker keep it short and formal.": "write to Tom Whitaker",
    "If I give you miles, convert.": "give you miles",
    "When a customer complains, apologise first.": "a customer complains",
    "With Emeka I write in English.": "Emeka",
    "In the changelog we write full sentences.": "the changelog",
    "Recipes: grams and millilitres, four portions. Don't give me cups ever again.": "Recipes",
    "Music in the car: no musicals.": "Music in the car",
    "Ticket notes: who, what, next step. Nobody wants to read novels.": "Ticket notes",
    "Code reviews: be blunt, I can take it.": "Code reviews",
    "Please never book anything on a Sunday before one o'clock, I'm singing.": "book anything on a Sunday",
    "No notifications on my phone after 21:30 unless it's my sister.": "notifications on my phone",
    "Don’t page me before seven.": "page me before seven",
    "Every quote has to show our order number.": "quote",
    "Conductivities always in mS/cm.": "Conductivities",
    "Anything above 200 euros goes through Marta first.": "Anything above 200 euros",
    "Kemi won't touch mushrooms.": "Kemi, food and drink",
    "im vegetarian now. since last week": "food and drink",
    "Ingrid reads on paper. Send her PDFs in one column.": "Ingrid, Send her PDFs",
    "Tomás wants planning in Notion, not slides.": "Tomás, planning in Notion",
    "Bilal can't stand small talk.": "Bilal, small talk",
    "Call me only after six pm, I teach all day.": "call me",
    "Call me Jo.": "",
    "It is Dr Osei, if you please.": "",
    "订餐厅：要有包间，不要自助。": "订餐厅",
    "推荐电影的时候别推恐怖片。": "推荐电影",
    "给我妈写消息要短，字要大。": "给我妈写消息",
    "以后回邮件都用英文。": "回邮件",
    "妹妹对海鲜过敏。": "饮食",
    "叫我小李就行。": "",
}
HAPPENED = """
We never found the keys.
I moved to Lisbon in May.
She always wanted to be a pilot.
No problem, always happy to help!
Don't worry, it's fixed.
Don't give up.
Deploy finished, no errors.
Order 4471: shipped on 3 June, no tracking number.
Shopping: oat milk, no mushrooms.
Meeting notes: Ana takes the database, Ben the frontend, launch on 3 May.
Is he allergic to nuts?
Please don't wait for me today.
他从来没去过日本。
别担心，已经修好了。
特别好吃的一家店。
要不要提醒您？
""".strip().splitlines()
REQUESTS = """
Draft a reply to Tom.
Could you please suggest a present for Amir?
Book a table for two.
Restart the primary database.
Can I bring Tunde a normal coffee?
They come to dinner on Saturday. What should I leave out of the food?
I need a birthday present for my mother.
Any ideas for the weekend?
Is it ok to deploy this afternoon?
帮我给妈妈写条消息。
给爸爸买个生日礼物。
周末晚上想看个电影，推荐一部？
今晚吃什么好？
""".strip().splitlines()
QUESTIONS = """
Where does Nina live?
Tell me about the outage.
Give me the address of the hotel.
List all customers in Spain.
How do I restart the primary?
Can the parser read dates?
whos my boss now
Was the first half of the year a good one?
妹妹对什么过敏？
我们什么时候搬家的？
""".strip().splitlines()


@pytest.mark.parametrize("text", SITUATIONS)
def test_a_wish_has_a_situation(text: str) -> None:
    wish = standing_wish(text)
    assert wish is not None
    assert wish.situation.casefold() == SITUATIONS[text].casefold()


@pytest.mark.parametrize("text", HAPPENED)
def test_what_happened_is_no_wish(text: str) -> None:
    assert standing_wish(text) is None


def test_a_wish_is_the_sentences_that_say_it() -> None:
    wish = standing_wish("It has been chewed. I own a cat. And please only ever write to me, I'm deaf.")
    assert wish is not None
    assert wish.text == "And please only ever write to me, I'm deaf."


@pytest.mark.parametrize("query", REQUESTS)
def test_a_request_asks_for_something_to_be_done(query: str) -> None:
    assert is_request(query)


@pytest.mark.parametrize("query", QUESTIONS)
def test_a_question_asks_for_what_is_known(query: str) -> None:
    assert not is_request(query)


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert standing_wish("." * LONGEST + " Never call me.") is None
