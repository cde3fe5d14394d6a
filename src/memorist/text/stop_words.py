"""Words so common that a question is better searched without them, by language."""

from __future__ import annotations

from collections.abc import Mapping

from memorist.text.fold import fold

# As `words` gives them: an apostrophe's tail is dropped (it's → it) or joined (don't → dont).
# Left out on purpose: may and us, which are a month and a country as often.
_LISTS = {
    "en": """
        a about above after again all also am an and any are arent as at be because been before being below
        between both but by can cant could couldnt did didnt do does doesnt doing done dont down during each
        else ever few for from further get gets getting give go got had hadnt has hasnt have havent having he
        her here hers herself him himself his how i if in into is isnt it its itself just let like me mine more
        most much must my myself no nor not now of off on once only onto or other ought our ours ourselves out
        over own please same shall shant she should shouldnt since so some such tell than that the their theirs
        them themselves then there these they this those though through thus to too under until up upon very
        was wasnt we were werent what whats whatever when where whether which while who whom whose why will
        with within without wont would wouldnt yes yet you your yours yourself yourselves""",
    "de": """
        aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des dich
        die dies diese dieser dir doch du durch ein eine einem einen einer er es etwas euch fur gegen habe haben
        hat hatte hatten hier ich ihm ihn ihnen ihr ihre im in ist ja jede jeder kann kein keine konnen mein
        meine mich mir mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so soll uber um
        und uns unser unter vom von vor wann war waren warum was welche welcher wenn wer werden wie wir wird wo
        wurde zu zum zur""",
    "fr": """
        a ai as au aux avec avez c ce ces cet cette comme d dans de des du elle elles en est et ete etes etre eu
        fait il ils j je l la le les leur leurs lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont
        ou par pas plus pour pourquoi qu quand que quel quelle qui quoi s sa sans se ses si son sont sur t ta te
        tes toi ton tu un une vos votre vous y""",
    "es": """
        a al algo ante antes como con cual cuando de del desde donde dos e el ella ellas ellos en entre era eran
        eres es esa ese eso esta estaba estan estar este esto estos estoy fue fueron ha habia han hasta hay la
        las le les lo los mas me mi mis mucho muy nada ni no nos nosotros o os otra otro para pero por porque
        que quien se ser si sin sobre son soy su sus tambien te tiene tu tus un una uno unos y ya yo""",
    "it": """
        a agli ai al alla alle anche avere ho ha hai hanno c che chi ci come con cosa cui d da dagli dai dal
        dalla de degli dei del della delle di dove e ed era erano essere gli i il in io l la le lei li lo loro
        lui ma mi mia mio ne negli nei nel nella no noi non nostro o per perche piu quale quando quando quella
        quello questa questo se sei si sia siamo sono sta su sua sul sulla suo ti tra tu tua tuo un una uno vi
        voi""",
    "pt": """
        a ao aos as ate com como da das de dela dele do dos e ela elas ele eles em entre era eram essa esse esta
        estao estava este estou eu foi foram ha isso isto ja la lhe mais mas me mesmo meu meus minha muito na
        nao nas nem no nos nossa nosso num numa o onde os ou para pela pelo por porque qual quando que quem se
        sem ser seu seus so sou sua suas tambem te tem tenho teu tu tua um uma voce voces""",
    "nl": """
        aan al alles als altijd ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen had
        heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met
        mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u
        uit uw van veel voor waar waarom want waren was wat werd wezen wie wij wil worden wordt zal ze zich zij
        zijn zo zonder zou""",
    "sv": """
        alla allt att av blev blir da de dem den denna deras dess det detta dig din dina du dar efter ej eller en
        er era ett fran for ha hade han hans har henne hennes hon honom hur har i icke inom inte jag kan kunde
        man med mellan men mig min mina mot mycket nagon nagot nar ni nu och om oss pa sa sig sin sina sitta
        skulle som till under upp ut utan vad var vara varfor vart vem vi vid vilken ar at over""",
    "da": """
        af alle alt anden at blev blive da de dem den denne der deres det dette dig din dog du efter eller en end
        er et for fordi fra ham han hans har havde have hende hendes her hos hun hvad hvem hver hvilken hvis hvor
        hvordan hvornar i ikke ind jeg jer kan kunne man mange med meget men mig min mod ned nar noget nogle nu
        og ogsa om op os over pa selv sig sin skal skulle som til ud under var ved vi vil ville vaere""",
    "no": """
        alle at av bare ble bli blir da de deg dem den denne der deres det dette din du eller en enn er et etter
        for fordi fra ha hadde han hans har henne hennes her hun hva hvem hver hvilken hvis hvor hvordan hvorfor
        i ikke inn jeg kan kunne man mange med meg mellom men mer min mot mye na nar noe noen og ogsa om opp oss
        over pa sa seg selv sin skal skulle som til ut uten var ved vi vil ville vaere a""",
    "fi": """
        ei eivat en et ette etta han hanen he heidan ja jo joka jos jotka kaikki kanssa keta kuin kuinka kuka kun
        me meidan mika mikä miksi milloin mina minun minulla missa mita mutta myos ne niin nyt ole olemme olen
        olet oli olin olivat olla on onko ovat se sen silla sina sinun sita tai tama taman te teidan tuo vain vai
        voi""",
    "ru": """
        а без бы был была были было быть в вам вас весь во вот все всё всех вы где да для до его ее её если есть
        еще ещё же за и из или им их к как какая какие какой когда кто ли либо мне может мой моя мы на над нам
        нас не него нее нет ни них но ну о об он она они оно от по под при с сам свой себе себя со так также
        такой там те тебе тебя то тогда того тоже только том ты у уже чего чей чем что чтобы эта эти это этот
        я""",
    "el": """
        αλλα αν απο αυτα αυτη αυτο αυτος για δε δεν εγω ειμαι ειναι εκει ενα ενας εχει εχω η ηταν θα και κατα κι
        μας με μετα μη μια μου να ο οι οπως οταν οτι ου ποιος που πως πριν προς σας σε στα στη στην στις στο
        στον στους συ σου τα τη την της τι τις το τον του τους των ως""",
    "ar": """
        أن أنا أنت أو أي إذا إلى إن التي الذي الذين ان اذا الى به بعد بين تلك ثم حتى حول ذلك سوف على عليه عن عند
        عندما غير في فيه فيها قبل قد كان كانت كل كما كيف لا لكن لم لماذا له لها ليس ما متى مع من منذ نحن هذا
        هذه هل هم هنا هناك هو هي و ولا وهو يا يكون""",
    "he": """
        אבל אז אחרי איך אין איפה אם אני אנחנו את אתה אתם גם הוא היא היה הם זאת זה זו יש כי כל כמו לא לו לי לך לפני
        מה מי מתי על עד עם של שלה שלו שלי""",
    "hi": """
        अपना अपने आप इस इसके उनके उस उसके एक एवं ऐसा ओर और कब कर करता करते करना करने कहाँ का कि किस की कुछ के कैसे
        को कोई कौन क्या क्यों गया जब जहाँ जो तक तब तो था थी थे दिया ने नहीं पर बहुत भी मैं में यह यहाँ या ये रहा रहे
        वह वहाँ वाले वे साथ से हम ही हुआ है हैं हो होता होने""",
    "cjk": """
        的 了 是 在 有 和 与 也 都 吗 呢 吧 啊 谁 我 你 他 她 它 什么 甚麼 怎么 怎样 怎麼 为什 為什 哪里 哪个 哪些
        多少 几个 是谁 我们 你们 他们 她们 这个 那个 这些 那些 です ます でし まし した する して てい いる ある から
        まで には では とは どこ だれ なに いつ どの どう""",
}

STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(fold(listing).split()) for language, listing in _LISTS.items()
}
