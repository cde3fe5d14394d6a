"""Word lists for extraction: function words, kin, jobs, belongings, first names and places."""

from __future__ import annotations

from memorist.text.words import STOP_WORDS


def word_set(listing: str) -> frozenset[str]:
    """The words of a listing, separated by whitespace."""
    return frozenset(listing.split())


def phrase_set(listing: str) -> frozenset[str]:
    """The phrases of a listing, separated by `|`."""
    return frozenset(phrase.strip() for phrase in listing.split("|"))


_DAYS = "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun"
_MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_SEASONS = "spring summer autumn fall winter christmas easter thanksgiving halloween ramadan eid diwali hanukkah xmas"
_INTERJECTIONS = """
    hey hi hello wow whoa thanks thank thx yeah yep yup yes no nope nah oh ooh aw aww ah aha haha hahaha lol omg well
    okay ok sure great good nice cool awesome congrats congratulations sorry please dear mr mrs ms miss dr prof sir
    god gosh geez damn btw fyi tbh imo ps edit update note definitely absolutely totally exactly actually honestly
    anyway sounds glad happy hope hopefully maybe perhaps amazing wonderful fantastic lovely sweet true right
    let's lets i i'm im i've ive i'd i'll that's it's there's here's what's who's how's where's he's she's they're
    we're you're you've we've don't can't won't isn't didn't doesn't bye goodbye cheers welcome merry happy"""
_INDEFINITE = """
    everyone everybody someone somebody anyone anybody nobody none one many most few some all both each another other
    others people folks guys life work love today tomorrow yesterday tonight time things thing something everything
    nothing anything mom mum dad mother father grandma grandpa grandmother grandfather auntie baby honey babe dude bro
    man girl boy"""
_OPENING_VERBS = """
    just got had been went going looking seeing being having making taking trying working getting keep take make come
    go let look feel guess thinking tell remember check stay enjoy believe speaking talking hearing watching reading
    playing living moving starting started last next since until after before during even every once while whenever
    although though unless because hence thus still never always sometimes often usually recently lately finally
    currently now then later soon ever yet again also too only really very pretty quite super kinda"""
NOT_NAMES = STOP_WORDS["en"] | word_set(
    " ".join((_DAYS, _MONTHS, _SEASONS, _INTERJECTIONS, _INDEFINITE, _OPENING_VERBS))
)
"""Capitalised words that are not names: function words, greetings, titles, days, months, sentence openings."""

_KIN_WORDS = {
    "married_to": "husband hubby wife spouse",
    "partner": "boyfriend girlfriend partner fiance fiancé fiancee fiancée",
    "mother": "mom mum mother",
    "father": "dad father",
    "grandmother": "grandma granny grandmother",
    "grandfather": "grandpa grandfather",
    "brother": "brother",
    "sister": "sister",
    "sibling": "twin sibling",
    "child": "son daughter child kid baby",
    "cousin": "cousin",
    "aunt": "aunt",
    "uncle": "uncle",
    "niece": "niece",
    "nephew": "nephew",
    "friend": "friend bestie buddy",
    "roommate": "roommate flatmate housemate",
    "neighbour": "neighbor neighbour",
    "boss": "boss manager",
    "mentor": "mentor",
    "teacher": "teacher",
    "coach": "coach",
    "colleague": "colleague coworker co-worker",
    "pet": "dog puppy pup cat kitten kitty pet hamster rabbit bunny parrot turtle snake horse lizard gecko",
}
KIN = {word: relation for relation, listing in _KIN_WORDS.items() for word in listing.split()}
"""Words for relatives, friends and pets, with the relation of each."""
ONLY_ONE = word_set("husband hubby wife spouse mom mum mother dad father boss")
"""Kin that a person has only one of, so that `my wife` identifies somebody without a name."""

ATTRIBUTES = {
    "person": word_set(
        """
        boss manager supervisor coach trainer teacher tutor landlord landlady doctor gp dentist vet therapist lawyer
        solicitor accountant babysitter nanny cleaner plumber electrician hairdresser"""
    ),
    "amount": word_set("rent price cost fee salary wage budget deposit limit dose dosage rate discount"),
    "code": word_set("pin code password passcode plate registration version postcode username"),
    "time": word_set("deadline appointment"),
    "thing": word_set("car school university bank insurer employer title role nickname hometown"),
}
"""Nouns for what a person or thing has one of, by the kind of their values."""
SAME_ATTRIBUTE = {"manager": "boss", "supervisor": "boss", "landlady": "landlord", "gp": "doctor", "dosage": "dose"}
"""Nouns that mean the same attribute as another."""

JOBS = word_set(
    """
    accountant actor actress administrator advisor analyst animator archaeologist architect artist assistant
    astronomer attorney author baker banker barber barista bartender biologist blogger bookkeeper broker builder
    butcher carpenter cashier ceo cfo chef chemist cleaner clerk coach comedian composer consultant contractor
    cook coordinator cop counselor counsellor cto curator dancer dentist designer developer dietitian director
    doctor drummer economist editor electrician engineer entrepreneur farmer firefighter fisherman florist
    founder freelancer gardener geologist grocer guard guide hairdresser historian illustrator instructor
    interpreter intern inventor investor janitor journalist judge lawyer lecturer librarian lifeguard linguist
    machinist magician manager marketer mathematician mechanic midwife miner model musician nanny nurse
    nutritionist officer optician painter paralegal paramedic pediatrician pharmacist philosopher photographer
    physicist physiotherapist pilot planner plumber poet policeman politician postdoc potter principal producer
    professor programmer psychiatrist psychologist realtor receptionist recruiter reporter representative
    researcher sailor salesman salesperson scientist sculptor secretary singer sociologist soldier specialist
    statistician strategist streamer stylist supervisor surgeon surveyor tailor teacher technician therapist
    trader trainer translator tutor vet veterinarian videographer violinist waiter waitress welder writer
    youtuber zookeeper co-founder cofounder"""
)
"""Head nouns of professions."""
IDENTITIES = word_set(
    """
    vegan vegetarian pescatarian christian muslim buddhist hindu atheist catholic jewish diabetic celiac autistic
    gay lesbian bisexual transgender nonbinary retired divorced widowed unemployed pregnant left-handed"""
)
"""Lasting properties of people other than professions."""
WORKPLACES = word_set(
    """
    agency airline airport bakery bank bar bookshop bookstore brewery cafe café charity church clinic club
    college company consultancy daycare factory farm firm foundation gallery garage gym hospital hotel
    kindergarten lab laboratory library magazine museum newspaper nonprofit non-profit nursery office pharmacy
    publisher pub restaurant salon school shelter shop spa startup start-up store studio supermarket theater
    theatre university warehouse winery zoo"""
)
BELONGINGS = word_set(
    """
    dog dogs puppy puppies cat cats kitten kittens pet pets hamster rabbit bunny parrot turtle turtles snake
    snakes horse horses lizard gecko fish chickens goat goats cow cows bird birds kid kids child children son
    sons daughter daughters brother brothers sister sisters sibling siblings twins grandchildren grandkids
    grandson granddaughter nephew niece nephews nieces cousins husband wife boyfriend girlfriend roommate
    roommates car truck motorcycle motorbike bike bicycle van boat camper scooter tesla house apartment flat
    condo cabin cottage farm garden greenhouse studio guitar piano violin cello drum drums keyboard ukulele
    flute saxophone trumpet laptop computer phone iphone macbook ipad tablet camera drone telescope printer
    console playstation xbox switch blog podcast channel website company business startup shop store restaurant
    bakery gym tattoo tattoos diabetes asthma adhd anxiety arthritis celiac epilepsy migraines dyslexia degree
    phd masters mba diploma license licence visa passport mortgage"""
)
"""Possessions and conditions worth remembering; `to have` has too many other uses."""
LANGUAGES = word_set(
    """
    english spanish french german italian portuguese dutch swedish norwegian danish finnish icelandic polish
    czech slovak hungarian romanian bulgarian greek turkish russian ukrainian arabic hebrew persian farsi hindi
    urdu bengali punjabi tamil telugu gujarati marathi chinese mandarin cantonese japanese korean vietnamese
    thai tagalog filipino indonesian malay swahili yoruba amharic zulu afrikaans catalan basque irish gaelic
    welsh latin esperanto serbian croatian albanian latvian lithuanian estonian georgian armenian hausa igbo
    nepali khmer burmese mongolian asl"""
)
PLAYED = word_set(
    """
    guitar piano violin viola cello drums drum bass flute clarinet saxophone sax trumpet trombone keyboard
    keyboards harp ukulele banjo accordion harmonica organ mandolin oboe horn percussion football soccer
    basketball baseball softball tennis golf hockey cricket rugby volleyball badminton squash handball lacrosse
    chess poker bridge pool billiards darts frisbee pickleball go mahjong scrabble games chess videogames"""
)
"""Instruments, sports and games."""


FIRST_NAMES = word_set(
    """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony
    donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob
    gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander patrick
    frank raymond jack dennis jerry tyler aaron jose adam nathan henry zachary douglas peter kyle noah ethan
    jeremy walter christian keith roger terry austin sean gerald carl harold dylan arthur lawrence jordan jesse
    bryan billy bruce gabriel joe logan alan juan albert willie elijah wayne randy vincent mason roy ralph bobby
    russell bradley philip eugene carlos luis miguel antonio diego pedro jorge pablo sergio mario marco luca
    matteo giovanni hans klaus lars erik nils olaf sven ivan dmitri sergei boris vladimir mohammed muhammad
    ahmed ali omar hassan ibrahim yusuf mustafa raj amit ravi sanjay arjun rahul wei ming jun hiroshi kenji
    takashi oliver liam lucas leo max oscar hugo felix theo finn owen evan ian colin nigel graham stuart simon
    tom tim jim jimmy johnny mike matt dan danny dave steve chris nick alex sam ben josh andy tony joey ross
    chandler fred ted ned greg jeff rick rob bob cem jon jonas elias isaac caleb connor adrian julian sebastian
    xavier mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra
    margaret ashley kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca sharon laura
    cynthia dorothy amy kathleen angela shirley emma brenda pamela nicole anna samantha katherine christine
    debra rachel carolyn janet maria olivia heather helen catherine diane julie victoria joyce lauren kelly
    christina ruth joan virginia judith evelyn hannah andrea megan cheryl jacqueline madison teresa abigail
    sophia martha sara gloria janice kathryn ann isabella judy charlotte julia amber alice jean denise frances
    danielle marilyn natalie beverly diana brittany theresa kayla alexis doris lori tiffany anne marie elena
    carmen lucia sofia camila valentina ingrid astrid freya greta heidi ursula olga natasha irina svetlana
    tatiana fatima aisha leila yasmin zainab priya anjali neha pooja divya mei ling yuki sakura aiko hana chloe
    zoe mia ava ella lily lucy molly ellie nora clara claire stella sophie isabelle camille juliette caroline
    melanie joanna monica phoebe janine mona dora beth kate katie kathy liz lizzie jen jenny jess becky vicky
    vanessa veronica tina tara tracy wendy gina audrey bianca carla daniela erin fiona gwen holly iris ivy jane
    jasmine jill kim kristen leah lena lola mandy maya naomi nadia nina paula penny rita rosa roxanne sabrina
    selena shannon sierra simone sylvia vera yvonne"""
)

PLACES = phrase_set(
    """
    afghanistan|albania|algeria|argentina|armenia|australia|austria|azerbaijan|bangladesh|belarus|belgium|bolivia|
    bosnia|botswana|brazil|bulgaria|cambodia|cameroon|canada|chile|china|colombia|costa rica|croatia|cuba|cyprus|
    czech republic|denmark|dominican republic|ecuador|egypt|england|estonia|ethiopia|finland|france|germany|ghana|
    greece|guatemala|haiti|honduras|hong kong|hungary|iceland|india|indonesia|iran|iraq|ireland|israel|italy|
    jamaica|japan|kazakhstan|kenya|kuwait|laos|latvia|lebanon|libya|lithuania|luxembourg|macau|malaysia|malta|
    mexico|moldova|monaco|mongolia|morocco|myanmar|namibia|nepal|netherlands|new zealand|nicaragua|nigeria|
    north korea|norway|oman|pakistan|panama|paraguay|peru|philippines|poland|portugal|puerto rico|qatar|romania|
    russia|rwanda|saudi arabia|scotland|senegal|serbia|singapore|slovakia|slovenia|somalia|south africa|
    south korea|korea|spain|sri lanka|sudan|sweden|switzerland|syria|taiwan|tanzania|thailand|tibet|tunisia|
    turkey|uganda|ukraine|united kingdom|united states|uruguay|uzbekistan|venezuela|vietnam|wales|yemen|zambia|
    zimbabwe|usa|uk|uae|europe|asia|africa|south america|north america|latin america|scandinavia|alabama|alaska|
    arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa|kansas|
    kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|
    nevada|new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon|
    pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|wisconsin|wyoming|ontario|
    quebec|british columbia|alberta|new york city|nyc|los angeles|chicago|houston|phoenix|philadelphia|
    san antonio|san diego|dallas|san jose|fort worth|jacksonville|columbus|indianapolis|san francisco|seattle|
    denver|boston|nashville|detroit|portland|las vegas|memphis|louisville|baltimore|milwaukee|albuquerque|tucson|
    sacramento|atlanta|miami|oakland|minneapolis|tampa|new orleans|cleveland|honolulu|pittsburgh|cincinnati|
    st. louis|salt lake city|toronto|montreal|vancouver|calgary|ottawa|mexico city|havana|bogota|lima|quito|
    caracas|santiago|buenos aires|montevideo|rio de janeiro|sao paulo|brasilia|london|manchester|birmingham|
    liverpool|leeds|bristol|edinburgh|glasgow|cardiff|belfast|dublin|paris|lyon|marseille|nice|bordeaux|toulouse|
    brussels|antwerp|amsterdam|rotterdam|the hague|utrecht|berlin|munich|hamburg|cologne|frankfurt|stuttgart|
    leipzig|dresden|vienna|salzburg|zurich|geneva|basel|bern|rome|milan|naples|turin|florence|venice|bologna|
    madrid|barcelona|valencia|seville|bilbao|lisbon|porto|athens|thessaloniki|istanbul|ankara|izmir|stockholm|
    gothenburg|malmo|malmö|oslo|bergen|copenhagen|aarhus|helsinki|reykjavik|tallinn|riga|vilnius|warsaw|krakow|
    prague|brno|bratislava|budapest|bucharest|sofia|belgrade|zagreb|ljubljana|sarajevo|kyiv|kiev|lviv|minsk|
    moscow|saint petersburg|tbilisi|yerevan|baku|jerusalem|tel aviv|beirut|amman|damascus|baghdad|tehran|dubai|
    abu dhabi|doha|riyadh|cairo|alexandria|casablanca|marrakesh|tunis|lagos|accra|nairobi|addis ababa|kampala|
    johannesburg|cape town|durban|karachi|lahore|islamabad|delhi|new delhi|mumbai|bangalore|bengaluru|chennai|
    hyderabad|kolkata|pune|goa|kathmandu|dhaka|colombo|bangkok|phuket|chiang mai|hanoi|ho chi minh city|saigon|
    phnom penh|kuala lumpur|jakarta|bali|manila|cebu|tokyo|kyoto|osaka|yokohama|sapporo|fukuoka|seoul|busan|
    beijing|shanghai|guangzhou|shenzhen|hangzhou|chengdu|wuhan|nanjing|xi'an|taipei|sydney|melbourne|brisbane|
    perth|adelaide|canberra|auckland|wellington|brooklyn|manhattan|queens|bronx|hollywood|silicon valley|bay area|
    tuscany|bavaria|catalonia|andalusia|provence|normandy|patagonia|siberia|alps|caribbean"""
)
