"""A file of each format, with a text in it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from import_tests import originals, products, services
from import_tests.exports import chatgpt, claude, mem0


def product_formats(text: str) -> dict[str, str | bytes]:
    """The content of a file of each format of this distribution, with a text in it."""
    said = json.dumps(text)[1:-1]
    transcript = "\n".join(map(json.dumps, products.claude_code()))
    lines = "\n".join(map(json.dumps, products.mcp_memory()))
    return {
        "chatgpt": json.dumps(chatgpt()).replace("At Oslo Roklubb.", said).replace("Rowing", said),
        "claude": json.dumps(claude()).replace("About twelve hours.", said).replace("Bread", said),
        "mem0": json.dumps(mem0()).replace("Loves hiking in the Alps", said).replace("hobbies", said),
        "html": products.PAGE.replace("The heron is red.", text).replace("Boats", text),
        "pdf": products.pdf(text, title=text),
        "claude-code": transcript.replace("On Friday.", said).replace("boat-shop", said.replace("/", " ")),
        "slack": json.dumps(products.slack()["boats/2024-06-03.json"]).replace("The oars are", said),
        "letta": json.dumps(products.letta()).replace("Ann rows.", said).replace("Noted.", said),
        "zep": json.dumps(products.zep()).replace("A pity.", said).replace("Ann sold the dinghy", said),
        "graphiti": json.dumps(products.graphiti()).replace("I moved to Oslo.", said).replace("Ann lives", said),
        "langgraph": json.dumps(products.langgraph()).replace("Ann likes fog.", said).replace("habit", said),
        "mcp-memory": lines.replace("Speaks Norwegian", said).replace("Heron", said),
        "mnemosyne-graph": json.dumps(originals.elixir())
        .replace("Old logs fill the disk.", said)
        .replace("df -h", said),
        "mnemosyne-hybrid": json.dumps(originals.hybrid_export()).replace("Maya rows.", said).replace("Oslo", said),
        "abmind": abmind_with(text),
        "mnemo": json.dumps(originals.mnemo()).replace("Ann rows at noon.", said).replace("agent:sam", said),
        "memoria": json.dumps(originals.memoria()).replace("I joined Premex.", said).replace("Stefan", said),
        "hindsight": json.dumps(services.hindsight_document()).replace("So you moved?", said).replace("Bakke", said),
        "honcho": json.dumps(services.honcho_context()).replace("Keeps bees", said).replace("helper", said),
        "cognee": json.dumps(services.cognee()).replace("Rita repairs clocks.", said).replace("Lund", said),
        "supermemory": json.dumps(services.supermemory_documents()).replace("Lesson", said).replace("Vera", said),
        "locomo": json.dumps(products.locomo()).replace("I moved to Rome.", said),
        "longmemeval": json.dumps(products.longmemeval()).replace("Splendid!", said),
    }


def abmind_with(text: str) -> bytes:
    """A database of abmind with a text in its memories, messages and edges."""
    tables = {name: [dict(row) for row in rows] for name, rows in originals.abmind_rows().items()}
    tables["extracted_memories"][0] |= {"content_en": text, "content_original": text, "emotion_arc": text}
    tables["messages"][0]["content"] = tables["entity_graph"][0]["entity_b"] = text
    with TemporaryDirectory() as folder:
        return originals.database(Path(folder, "memory.db"), tables).read_bytes()
