"""Names that many people and places bear: common first names, countries, states and large cities, in lower case."""

from __future__ import annotations

from memorist.remember.extract.lexicon import phrase_set, word_set

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
