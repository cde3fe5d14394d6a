"""A chain that answers from a memory: `python with_langchain.py`. It needs "memorist[langchain]" and no key."""

from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

import memorist
from memorist.integrations.langchain import MemoristRetriever

prompt = ChatPromptTemplate.from_messages([("system", "Answer from this.\n{context}"), ("user", "{question}")])
model = FakeListChatModel(responses=["In Stockholm, since June 2024."])

with memorist.open("agent.db") as memory:
    memory.remember("Alice moved to Stockholm.", at="2024-06-03")
    memory.remember("Alice works on the importer.")
    context = MemoristRetriever(memory, give="context") | (lambda found: found[0].page_content if found else "")
    asked = {"context": context, "question": RunnablePassthrough()} | prompt
    print(asked.invoke("Where does Alice live?").to_string())
    print((asked | model | StrOutputParser()).invoke("Where does Alice live?"))
