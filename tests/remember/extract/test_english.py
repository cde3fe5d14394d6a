"""What English sentences state, and what they do not state."""

from __future__ import annotations

import pytest

from tests.remember.extract.helpers import said

STATED = {
    # homes
    "I live in Oslo.": "Me lives_in Oslo",
    "i live in oslo": "Me lives_in oslo",
    "I'm living in New York City with my dog.": "Me lives_in New York City",
    "I currently live in Portland, Oregon.": "Me lives_in Portland, Oregon",
    "I’m based in the Netherlands now.": "Me lives_in Netherlands",
    "I moved to Berlin.": "Me lives_in Berlin",
    "Just moved to Berlin!": "Me lives_in Berlin",
    "I moved from Oslo to Berlin.": "Me lives_in Berlin",
    "My wife and I live in Oslo.": "Me lives_in Oslo",
    "We live in Oslo.": "Me lives_in Oslo",
    "I'm originally from Sweden.": "Me from Sweden",
    "I was born in Oslo.": "Me born_in Oslo",
    # work and study
    "I work at Spotify.": "Me works_at Spotify",
    "I work as a nurse at Mercy Hospital.": "Me works_as nurse",
    "I'm a software engineer at Google.": "Me works_as software engineer",
    "I'm a nurse.": "Me works_as nurse",
    "I live in Oslo and work at Spotify.": "Me lives_in Oslo; Me works_at Spotify",
    # who people are
    "My name is Alice Berg.": "Me name Alice Berg",
    "I'm 32 years old.": "Me age 32",
    "My birthday is on May 3.": "Me birthday May 3",
    "My email is a.b@example.com.": "Me email a.b@example.com",
    "My phone number is +46 70 123 4567.": "Me phone +46 70 123 4567",
    "I'm allergic to peanuts and cats.": "Me allergic_to peanuts; Me allergic_to cats",
    # family
    "My husband's name is Tom.": "Me married_to Tom",
    "My sister Anna works at Spotify.": "Me sister Anna; Anna works_at Spotify",
    "We went hiking with our dog Max.": "Me pet Max",
    "My mom lives in Bergen.": "Me's mom lives_in Bergen",
    # favourites
    "I'm a nurse in Oslo, can you help me?": "Me works_as nurse",
    "My favorite color is blue.": "Me favourite_colour blue",
    "My favourite football team is Juventus.": "Me favourite_football_team Juventus",
}  # fmt: skip

NOT_STATED = """
I no longer live in Paris.
I don't live in Paris anymore.
I used to live in Paris.
I grew up in Texas.
I visited Paris last summer.
I've been to Tokyo.
I work for a local comic shop.
I quit my job at Google.
I left Google last year.
Lost my job as a banker yesterday, so I'm gonna start a business.
I joined Spotify in January.
I joined the Oslo Chess Club.
I started a new job as a Financial Analyst last week.
I got promoted to team manager.
I study physics at Lund University.
I graduated from MIT.
I'm 32, by the way.
I just turned 30.
I was born on May 3, 1990.
I have a peanut allergy.
I'm a vegetarian.
I speak French and a little Spanish.
I can speak Norwegian.
I play the guitar and tennis.
I used to play a guitar.
I have two dogs and three cats.
I own a sailing boat.
I'm married to Tom.
I got married to Tom last year.
My sister, Anna, works at Spotify.
I have a dog named Max.
We adopted another cat called Luna.
My kids are Leo and Mia.
Anna is my best friend.
My favourite book is "The Hobbit".
Blue is my favourite colour.
I've been playing my favourite game called Apex Legends.
My landlord is Mr Brown.
My new landlady is called Mrs Lowe.
Our solicitor is Joan Blake at Blake & Sons.
Anna's piano teacher is now Mr Liu.
My boss is no longer Ann Lee.
I report to Tom Hall.
Tom Hall, my boss, loves a joke.
Our rent is £900 a month.
My dosage is 10 mg twice a day.
My car is a second-hand Skoda Fabia.
Ruth's PIN for the key safe is 4471.
The gate code is now 5512.
The thesis deadline is 30 November.
I live at 14 Quay Street, Falmouth TR11 3HN now.
We're at Flat 2, 41 Park Row, Leeds.
New address: 7 High Street, Leeds.
New number: 07700 900123.
I'm Head of Sales.
I've stopped smoking.
I'm smoking again since the wedding.
I've taken up photography.
Anna has given up the violin.
Anna starts violin with Mrs Lowe.
We use Slack.
We switched from Slack to Teams.
We replaced Jenkins with Buildkite.
Alice works with Bob.
Alice works for Bob.
I work on Apollo.
I sing at Cantabile.
I joined Cantabile last week, we rehearse on Tuesdays.
I turn 40 on 2 May.
My favourite restaurant now is closed.
My favourite restaurant is closed.
I'm not allergic to nuts.
I don't work at Acme.
I live in fear.
I live in Excel.
I'm allergic to mornings.
I'm allergic to please tell Johan's caterer.
I'm allergic to nuts and bolts.
My boss is Satan.
I'm back from Rome.
I'm a terrible cook.
I'm a teacher, or was.
I'm an accountant. Well, I was.
I moved to Spain when I was a child.
I moved to Lisbon, then back to Oslo.
I moved to Linux.
my partner Deloitte sent the bill
my late wife Isolde loved tulips
I called my dad, Tom, and Lisa.
Arsenal's coach Mikel is great.
My boss is amazing.
My boss is French.
My boss is moving to Leeds.
My boss is Tom's brother.
My old boss was Ann Lee.
My car is at the Shell station.
My school is the best in Leeds.
The only limit is 5.
It is NOT true that we use Slack.
It isn't true that I live in Oslo.
I gave up after an hour.
I'm thinking about it again.
My friend comes from Oslo on 4 April.
I will play tennis on Monday.
Do I live in Oslo?
do you live in oslo
Where does Alice live
What's your favourite colour
If I lived in Oslo, I would be happy.
I would live in Oslo and work at Google.
I might move to Oslo.
I may be moving to Oslo.
Maybe I live in Oslo.
I'm thinking about moving to Oslo.
I wish I lived in Oslo.
Imagine I work at Google.
I almost moved to Oslo.
I'd love to live in Oslo.
I want to live in Oslo.
I will move to Oslo.
I'm moving to Oslo soon.
I never lived in Oslo.
I've never been to Paris.
I didn't move to Oslo.
I lived in Oslo.
I have lived in Oslo.
I was a nurse.
She said "I live in Oslo".
Bob told me he lives in Oslo.
Apparently Alice lives in Oslo.
I heard that Alice works at Google.
Just kidding, I live in Oslo.
He lives in Oslo.
She loves hiking.
You live in Oslo.
They work at Google.
Live in Oslo!
Call Alice in Oslo.
The house I live in is old.
when I lived in Oslo
I live in a small apartment.
I live with my parents.
I live for music.
I work at night.
I work from home.
I'm allergic to it.
I'm allergic to your cat.
I'm allergic to the colors.
I'm allergic to people who laugh.
I own that song.
My favourite game is this one.
I have a great idea.
I have a meeting at nine.
I have a lot of work.
I bought a bike for my son.
I'm not 22.
I'm 5 minutes away.
I'm 99.9% certain.
I'm a mess.
I'm happy.
Everyone lives in Oslo.
Things like that happen.
Looks like Oslo.
Engineering studies are hard.
I live in Oslo, right?
Paris is my favourite.
My favourite part is the end.
His name is Kyle.
My ex-wife Anna works at Google.
I walked my dog, Caroline!
`I live in Oslo`
> I live in Oslo
[photo: I live in Oslo]
""".strip().splitlines()


@pytest.mark.parametrize(("text", "expected"), STATED.items())
def test_a_plain_sentence_states_its_facts(text: str, expected: str) -> None:
    assert said(text) == expected.split("; ")


@pytest.mark.parametrize("text", NOT_STATED)
def test_questions_suppositions_hearsay_and_vague_words_state_nothing(text: str) -> None:
    assert said(text) == []


SEEN = {
    "Elif is allergic to walnuts, please tell Johan's caterer.": ["Elif allergic_to walnuts"],
    "Mara works at Cantabile Choir.": [],
    "Alice works at Acme. Alice works with Bob.": ["Alice works_at Acme"],
    "My dog Pixel is asleep.": ["Me pet Pixel"],
    "I had lunch with my boss Grace.": ["Me boss Grace"],
    "My boss Grace.": ["Me boss Grace"],
    "I'm 39 years old, I turn 40 on 2 May.": ["Me age 39"],
    "My favourite restaurant is Casa Lupe, now that Otto's is gone.": ["Me favourite_restaurant Casa Lupe"],
}


@pytest.mark.parametrize(("text", "expected"), SEEN.items())
def test_an_object_is_complete_and_has_no_tail(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize("opening", ["Well, ", "Yeah, ", "By the way, ", "Actually, ", "Hey Bob! ", "And ", "Oh, "])
def test_openings_do_not_hide_a_fact(opening: str) -> None:
    assert said(f"{opening}I live in Oslo.") == ["Me lives_in Oslo"]


def test_only_the_doubtful_clause_is_dropped() -> None:
    assert said("I live in Oslo, but I might move to Bergen.") == ["Me lives_in Oslo"]
    assert said("I live in Oslo. Would you come?") == ["Me lives_in Oslo"]


def test_an_object_ends_where_it_surely_does_or_is_rejected() -> None:
    assert said("I live in Oslo these days because of my job.") == ["Me lives_in Oslo"]
    assert said("I'm allergic to pollen, every spring.") == ["Me allergic_to pollen"]
    assert said("I'm allergic to pollen from birches every spring.") == []


@pytest.mark.parametrize(
    "text",
    [
        "I love hiking.",
        "I don't like mushrooms.",
        "I prefer tea to coffee.",
        "I'm planning to open a bakery.",
        "My goal is to run a marathon.",
        "I'm working on a website for a local bakery.",
        "I work in finance.",
        "I'm learning German.",
        "My GitHub handle is @ada",
        "Call me Al.",
    ],
)
def test_tastes_plans_and_rare_relations_are_not_extracted(text: str) -> None:
    assert said(text) == []


def test_a_fact_said_twice_is_stated_once() -> None:
    assert said("I live in Oslo. Yes, I live in Oslo.") == ["Me lives_in Oslo"]
