"""Questions by the sort of memory they want, written by hand before the rules were tried on them."""

from __future__ import annotations


def _lines(block: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in block.strip().splitlines())


SEMANTIC = _lines("""
    What is Alice's favourite colour?
    Who is the project manager?
    Where does Bob live?
    What does the cache layer store?
    Which database does the project use?
    What is the capital of the customer's country?
    Does Carol prefer tea or coffee?
    Is Dave allergic to peanuts?
    What are the opening hours of the gym?
    Who are Alice's siblings?
    How old is Erin?
    How many children does Frank have?
    What kind of music does Grace like?
    What's the wifi password?
    Who's Henry's boss?
    Where's the spare key?
    What does API stand for?
    What is the difference between the staging and the production cluster?
    Which programming languages does Ivan know?
    What is my mother's phone number?
    When is Judy's birthday?
    What time does the daily stand-up start?
    What is the name of our landlord?
    Is the service written in Go?
    Can Karl speak French?
    What would Laura enjoy as a present?
    Why is the build cache disabled?
    How does the scheduler work?
    How much does the licence cost?
    What are my dietary restrictions?
    Whose car is the red one?
    What's our refund policy?
    Are there any stairs in the house?
    Do I have a middle name?
    Which team owns the billing service?
    What is Mallory's relationship to Niaj?
    How far is the office from the station?
    What fields does Olivia want to study?
    Would Peggy likely move abroad?
    What breed is Rupert's dog?
    What is the meaning of severity two?
    Where do Sybil's parents live?
    Who has access to the vault?
    What version of Python do we support?
    How often does the backup run?
    favourite restaurant of Trent
    Victor's home address
    What is Walter's job title?
    Which airline does Alice prefer?
    Does the API support pagination?
    爱丽丝最喜欢的颜色是什么？
    谁是项目经理？
    鲍勃住在哪里？
    他的生日是什么时候？
    这个项目用的是哪个数据库？
    她对什么过敏？
    王伟几岁？
    我的医生叫什么名字？
    办公室离车站多远，需要多久？
    他是不是素食者？
    我们的退款政策是什么？
    小李喜欢什么运动？
    会议几点开始？
    他会说法语吗？
""")

PROCEDURAL = _lines("""
    How do I reset my password?
    How to deploy the service to production?
    How can we roll back a migration?
    What are the steps to onboard a new customer?
    How should I handle a failed payment?
    What's the best way to cook rice?
    Walk me through the release process.
    Show me how to configure the proxy.
    How do you make sourdough bread?
    What should I do when the disk is full?
    Give me step by step instructions for the backup.
    What is the procedure for requesting leave?
    How would one debug a memory leak?
    How can I improve my sleep?
    What's the right way to water a cactus?
    Which command restarts the worker?
    How do we rotate the API keys?
    Tell me how to install the driver.
    What steps are needed to close the books?
    recipe for pancakes
    checklist for going on holiday
    How does one apply for a visa?
    What do I need to do to renew my passport?
    How must we label the samples?
    Is there a way to export the data as CSV?
    What is the recommended approach for caching?
    How are releases built?
    Instructions for assembling the desk
    How do I get from the airport to the hotel?
    What can I do to fix a leaking tap?
    Teach me how to tie a bowline.
    How could I speed up the query?
    What is the workflow for code review?
    How to write a good bug report
    how to clean a cast iron pan
    Guide me through setting up two-factor authentication.
    What must I check before merging?
    What's the easiest way to peel garlic?
    How shall we announce the outage?
    How do people usually season a wok?
    What is the correct way to cite a paper?
    What is the process for escalating an incident?
    How can I teach my dog to sit?
    How do I undo the last commit?
    How should we respond to an angry customer?
    What should I say in a job interview?
    Are there ways to reduce the bill?
    guide to pruning roses
    How would I go about changing the domain?
    What needs to be done before the launch?
    怎么重置密码？
    如何部署这个服务？
    做红烧肉的步骤有哪些？
    怎样才能提高睡眠质量？
    磁盘满了怎么办？
    报销的流程是什么？
    怎么从机场去酒店？
    如何回滚数据库迁移？
    教我怎么系领带
    退货应该怎么操作？
    有什么办法可以降低成本？
    安装驱动的方法
    怎么给猫剪指甲？
    新员工入职需要做什么？
""")

EPISODIC = _lines("""
    When did Alice move to Stockholm?
    What happened at the board meeting?
    Where did we go for dinner last Friday?
    What did Bob say about the budget?
    Who did I meet at the conference?
    Did Carol call yesterday?
    When was the last time the server crashed?
    What did we decide about the logo?
    Why did Dave leave the company?
    How did Erin and Frank meet?
    What was Grace working on in March?
    Have I ever been to Kyoto?
    What have we tried so far to fix the bug?
    Has Henry visited the new office?
    Which book did Ivan finish in June?
    Remember when we missed the train?
    What went wrong during the migration?
    Who won the match?
    When did Judy paint the sunrise?
    What did I have for breakfast three days ago?
    Where was Karl when the alarm rang?
    How long ago did Laura start the course?
    What was the outcome of the appeal?
    Which customers complained last week?
    What did I tell you about my sister?
    What happened to the old printer?
    How many times did the job fail in May?
    Was the invoice paid?
    Were there any outages over the weekend?
    What did Mallory buy for the party?
    Where had Niaj been before the interview?
    What did we talk about in our first session?
    When did I last see the dentist?
    Who told me about the vacancy?
    the day we moved into the flat
    what I promised Olivia
    What restaurants did Peggy recommend?
    How did the presentation go?
    When did the user first report the error?
    What was Rupert upset about?
    How did Sybil feel after the race?
    What did the doctor say recently?
    What has been happening with the merger?
    Which countries has Trent travelled to?
    What gifts did Victor receive?
    Did we already discuss the pricing?
    Who came to the housewarming?
    Where did Walter go on holiday in 2022?
    What did I do the night before the exam?
    Which errors did we see earlier today?
    爱丽丝什么时候搬到斯德哥尔摩的？
    上次会议发生了什么？
    我们昨天晚饭吃了什么？
    他去年去过哪些国家？
    我是在哪里认识她的？
    你还记得我们错过火车的时候吗？
    服务器什么时候宕机的？
    医生上周说了什么？
    我曾经去过京都吗？
    她最近买了什么？
    我们决定了哪个方案？
    他为什么离开了公司？
    第一次见面那天发生了什么事？
    发票付了吗？
""")

MIXED = _lines("""
    Tell me about Alice.
    Everything you know about the Kyoto trip
    project deadline
    Bob and the budget
    sqlite fts5 performance
    Summarise the billing service.
    Carol
    the Stockholm office
    Anything on garden furniture?
    notes on the merger
    What happened when the disk filled up and how do I prevent it?
    How do I fix the error we saw last week?
    How to do what we did last time
    When did the build break and how can we repair it?
    my health
    Dave's wedding plans
    customer feedback about the new design
    Give me an overview of Erin's situation.
    authentication
    Frank, hiking, Alps
    Describe the migration.
    Brief me before the call with Grace.
    context for the next meeting
    Henry's holiday in Spain and the hotel
    Relevant background for the proposal
    travel and budget
    Ivan's dog and the vet
    kitchen renovation
    open questions about pricing
    Refresh my memory on Judy.
    the red bicycle
    Karl versus Laura
    python packaging troubles
    all about mushrooms
    school, homework, teachers
    Prepare a summary for Mallory.
    sleep and caffeine
    status of the lawsuit
    Niaj's promotion
    risks
    How should we handle refunds, given what happened last month?
    Why did it fail, and what should I do now?
    Olivia's allergy test results from the clinic last spring and how to treat it
    the flood in the basement
    coffee machine
    Peggy + piano lessons
    concerts in Berlin
    deployment incidents, lessons
    Rupert's thesis
    weather at the cabin
    给我讲讲爱丽丝
    京都旅行的一切
    项目截止日期
    健康状况
    总结一下计费服务
    预算和出差
    关于合并的笔记
    上次出错之后应该怎么处理？
    昨天的故障如何修复？
    厨房装修
    王伟的婚礼
    介绍一下这个系统
    背景资料
    睡眠与咖啡
""")
