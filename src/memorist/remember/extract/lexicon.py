"""Word lists for extraction: function words, kin, jobs, allergens, favourites, first names and places."""

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
PASTIMES = word_set(
    """
    actor actress artist author baker blogger builder coach co-founder cofounder comedian composer cook cop dancer
    director drummer entrepreneur fisherman founder gardener guard guide historian inventor investor judge linguist
    magician model musician painter philosopher photographer planner poet politician potter producer sailor sculptor
    singer soldier specialist strategist streamer trader violinist writer youtuber"""
)
"""Jobs that people also are without being paid: `I'm a terrible cook` is no profession, `I work as a cook` is one."""
JOB_MODIFIERS = word_set(
    """
    account aerospace apprentice architectural automotive backend bank bus business call center centre charity
    chartered chemical child civil clinical community construction content criminal customer data dental digital
    district electrical elementary emergency english environmental estate executive family fashion film financial
    flight freelance french front-end frontend full-time furniture game german graphic head health high history
    hospital hotel hr human icu immigration infant insurance interior it junior kindergarten kitchen lab laboratory
    landscape learning legal library machine marine marketing math maths mechanical media medical mental middle music
    network night nursery occupational office operations paediatric part-time pastry patent pediatric philosophy
    physical physics piano primary private product project property psychiatric public qa quality real registered
    relations research resources retail rights room sales school science secondary security senior site social software
    sound speech staff store structural support surgical systems tax taxi technical test theatre trauma tree truck ux
    veterinary video warehouse web welfare wildlife yoga"""
)
"""Words before the noun of a profession that belong to it: `primary school teacher`."""
TOOLS = word_set(
    """
    airbnb blender canva chatgpt chrome confluence discord emacs excel facebook figma firefox github gmail google icloud
    instagram jira linear linux mac macos minecraft neovim netflix notion obsidian onenote outlook pajamas photoshop
    powerpoint postgres python reddit roblox salesforce scrubs sheets skype slack spotify spreadsheets teams terminal
    tiktok trello twitter ubuntu vim vscode whatsapp windows word xcode youtube zoom zotero narnia hogwarts neverland"""
)
"""What people say that they live in, or are in a relation with, in jest."""
ALLERGENS = word_set(
    """
    acrylics almond almonds amoxicillin antibiotics apple apples aspirin aspirine avocado avocados banana bananas
    barley bee bees birch brazil cashew cashews cat cats celery cheese chestnuts chickpeas chicken chocolate citrus
    clams coconut codeine corn cow cows crab crustaceans dairy dander dog dogs dust egg eggs feathers fish fragrance
    fur garlic gluten grass hay hazelnut hazelnuts horses hornets horse ibuprofen iodine kiwi kiwifruit kiwis latex
    lentils lobster lupin mango mangoes mangos melon milk mites mold mosquitoes mould mushrooms mussels mustard nickel
    nut nuts oats onions oysters papaya peach peaches peanut peanuts pecans penicillin peas pet pets pineapple pine
    pistachio pistachios plasters pollen prawn prawns rabbits ragweed rye salmon seafood sesame shellfish shrimp
    shrimps soy soya soybeans squid strawberries strawberry sulfa sulfites sulphites sunflower tomato tomatoes tree
    trimethoprim tuna wasp wasps walnut walnuts wheat wool yeast stings venom hair seeds antihistamines hamsters guinea
    pigs zinc morphine tetracycline hazel mugwort mite"""
)
"""Words for what people are allergic to; other things are mostly said in jest."""
FAVOURITE_KINDS = phrase_set(
    """
    animal|berry|bird|biscuit|breakfast|cake|candy|cheese|chocolate|cocktail|coffee|color|colour|comfort food|cookie|
    cuisine|dance|dessert|dinner|dish|drink|exercise|fish|flavor|flavour|flower|food|fruit|genre|herb|hobby|
    hot drink|ice cream|ice cream flavor|ice cream flavour|ice-cream flavour|juice|lunch|meal|meat|metal|music genre|
    nut|pasta|pasta shape|pastry|pastime|pie|pizza|pizza topping|pudding|salad|sandwich|season|smell|snack|soup|
    spice|sport|subject|school subject|sweet|tea|topping|tree|type of music|vegetable|veggie|weather|wine"""
)
"""What people have a favourite of whose name is a common noun."""
FAVOURITE_NAMES = phrase_set(
    """
    actor|actress|album|app|artist|author|band|baseball team|basketball team|beer|board game|book|brand|cafe|café|
    cartoon|character|city|club|composer|country|designer|director|editor|film|football club|football team|game|
    holiday|hockey team|language|magazine|month|movie|museum|musician|novel|opera|painter|park|place|play|player|
    podcast|poem|poet|programming language|pub|restaurant|series|show|singer|song|soccer team|sports team|superhero|
    team|theatre|tv series|tv show|video game|website|writer|day|day of the week|bookshop|shop|store|bakery|beach"""
)
"""What people have a favourite of that has a name of its own."""
LANGUAGES = word_set(
    """
    english spanish french german italian portuguese dutch swedish norwegian danish finnish icelandic polish
    czech slovak hungarian romanian bulgarian greek turkish russian ukrainian arabic hebrew persian farsi hindi
    urdu bengali punjabi tamil telugu gujarati marathi chinese mandarin cantonese japanese korean vietnamese
    thai tagalog filipino indonesian malay swahili yoruba amharic zulu afrikaans catalan basque irish gaelic
    welsh latin esperanto serbian croatian albanian latvian lithuanian estonian georgian armenian hausa igbo
    nepali khmer burmese mongolian asl"""
)


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
    cleo elif tess nell johan mara lupe frida mira dana
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
    greece|guatemala|haiti|honduras|hong kong|hungary|iceland|india|indonesia|iran|iraq|ireland|israel|italy|jamaica|
    japan|kazakhstan|kenya|kuwait|laos|latvia|lebanon|libya|lithuania|luxembourg|macau|malaysia|malta|mexico|moldova|
    monaco|mongolia|morocco|myanmar|namibia|nepal|netherlands|new zealand|nicaragua|nigeria|north korea|norway|oman|
    pakistan|panama|paraguay|peru|philippines|poland|portugal|puerto rico|qatar|romania|russia|rwanda|saudi arabia|
    scotland|senegal|serbia|singapore|slovakia|slovenia|somalia|south africa|south korea|korea|spain|sri lanka|sudan|
    sweden|switzerland|syria|taiwan|tanzania|thailand|tibet|tunisia|turkey|uganda|ukraine|united kingdom|
    united states|uruguay|uzbekistan|venezuela|vietnam|wales|yemen|zambia|zimbabwe|usa|uk|uae|europe|asia|africa|
    south america|north america|latin america|scandinavia|alabama|alaska|arizona|arkansas|california|colorado|
    connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|
    massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|
    new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|
    south dakota|tennessee|texas|utah|vermont|wisconsin|wyoming|ontario|quebec|british columbia|alberta|
    new york city|nyc|los angeles|chicago|houston|phoenix|philadelphia|san antonio|san diego|dallas|san jose|
    fort worth|jacksonville|columbus|indianapolis|san francisco|seattle|denver|boston|nashville|detroit|portland|
    las vegas|memphis|louisville|baltimore|milwaukee|albuquerque|tucson|sacramento|atlanta|miami|oakland|minneapolis|
    tampa|new orleans|cleveland|honolulu|pittsburgh|cincinnati|st. louis|salt lake city|toronto|montreal|vancouver|
    calgary|ottawa|mexico city|havana|bogota|lima|quito|caracas|santiago|buenos aires|montevideo|rio de janeiro|
    sao paulo|brasilia|london|manchester|birmingham|liverpool|leeds|bristol|edinburgh|glasgow|cardiff|belfast|dublin|
    paris|lyon|marseille|nice|bordeaux|toulouse|brussels|antwerp|amsterdam|rotterdam|the hague|utrecht|berlin|munich|
    hamburg|cologne|frankfurt|stuttgart|leipzig|dresden|vienna|salzburg|zurich|geneva|basel|bern|rome|milan|naples|
    turin|florence|venice|bologna|madrid|barcelona|valencia|seville|bilbao|lisbon|porto|athens|thessaloniki|istanbul|
    ankara|izmir|stockholm|gothenburg|malmo|malmö|oslo|bergen|copenhagen|aarhus|helsinki|reykjavik|tallinn|riga|
    vilnius|warsaw|krakow|prague|brno|bratislava|budapest|bucharest|sofia|belgrade|zagreb|ljubljana|sarajevo|kyiv|
    kiev|lviv|minsk|moscow|saint petersburg|tbilisi|yerevan|baku|jerusalem|tel aviv|beirut|amman|damascus|baghdad|
    tehran|dubai|abu dhabi|doha|riyadh|cairo|alexandria|casablanca|marrakesh|tunis|lagos|accra|nairobi|addis ababa|
    kampala|johannesburg|cape town|durban|karachi|lahore|islamabad|delhi|new delhi|mumbai|bangalore|bengaluru|
    chennai|hyderabad|kolkata|pune|goa|kathmandu|dhaka|colombo|bangkok|phuket|chiang mai|hanoi|ho chi minh city|
    saigon|phnom penh|kuala lumpur|jakarta|bali|manila|cebu|tokyo|kyoto|osaka|yokohama|sapporo|fukuoka|seoul|busan|
    beijing|shanghai|guangzhou|shenzhen|hangzhou|chengdu|wuhan|nanjing|xi'an|taipei|sydney|melbourne|brisbane|perth|
    adelaide|canberra|auckland|wellington|brooklyn|manhattan|queens|bronx|hollywood|silicon valley|bay area|tuscany|
    bavaria|catalonia|andalusia|provence|normandy|patagonia|siberia|alps|caribbean|gdansk|gdańsk|wroclaw|wrocław|
    poznan|poznań|lodz|łódź|tampere|turku|espoo|uppsala|lund|trondheim|stavanger|tromsø|odense|aalborg|ghent|bruges|
    leuven|eindhoven|groningen|delft|maastricht|haarlem|leiden|nottingham|sheffield|newcastle|brighton|cambridge|
    oxford|southampton|plymouth|norwich|leicester|coventry|swansea|aberdeen|dundee|inverness|galway|limerick|
    milton keynes|hackney|brixton|bonn|bremen|hanover|hannover|nuremberg|dortmund|düsseldorf|dusseldorf|freiburg|
    heidelberg|karlsruhe|mannheim|münster|kassel|kiel|lübeck|rostock|potsdam|graz|linz|innsbruck|lausanne|lucerne|
    palermo|catania|verona|padua|genoa|trieste|malaga|málaga|granada|zaragoza|alicante|san sebastian|coimbra|faro|
    braga|nantes|strasbourg|lille|rennes|montpellier|grenoble|dijon|patras|heraklion|varna|plovdiv|cluj|timisoara|
    dubrovnik|novi sad|skopje|tirana|pristina|podgorica|odesa|odessa|kharkiv|dnipro|kazan|novosibirsk|almaty|astana|
    tashkent|santa fe|el paso|omaha|tulsa|boise|spokane|tacoma|anchorage|rochester|richmond|raleigh|durham|
    charleston|savannah|orlando|st louis|kansas city|des moines|halifax|winnipeg|edmonton|quebec city|guadalajara|
    monterrey|tijuana|medellin|medellín|cusco|la paz|asuncion|cordoba|córdoba|recife|porto alegre|curitiba|
    belo horizonte|abuja|ibadan|dakar|abidjan|bamako|kigali|lusaka|harare|windhoek|maputo|luanda|kinshasa|khartoum|
    algiers|rabat|fez|tripoli|haifa|jeddah|muscat|jaipur|kochi|lucknow|ahmedabad|da nang|penang|bandung|surabaya|
    davao|nagoya|kobe|hiroshima|sendai|incheon|daegu|suzhou|xiamen|tianjin|chongqing|qingdao|kaohsiung|hobart|cairns|
    gold coast|newcastle upon tyne|christchurch|dunedin"""
)
