"""Small made-up exports in the formats of the products."""

from __future__ import annotations

from typing import Any


def _node(id: str, parent: str | None, role: str | None = None, *parts: Any, **message: Any) -> dict[str, Any]:
    kind = message.pop("content_type", "text")
    content = {"content_type": kind, "parts": list(parts)} if parts else {"content_type": kind, **message}
    said = {
        "id": id,
        "author": {"role": role, "name": message.pop("name", None), "metadata": {}},
        "create_time": message.pop("at", None),
        "content": content,
        "status": "finished_successfully",
        "recipient": message.pop("recipient", "all"),
        "metadata": message.pop("metadata", {}),
    }
    return {"id": id, "message": said if role else None, "parent": parent, "children": []}


def chatgpt() -> list[dict[str, Any]]:
    """One conversation with an edited question, a picture, a search, spoken words and thoughts; one without an end."""
    nodes = [
        _node("root", None),
        _node("sys", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        _node("about", "sys", "user", content_type="user_editable_context", user_profile="I row."),
        _node("q1", "about", "user", "Where can I row in Bergen?", at=1717408800.25),
        _node("a1", "q1", "assistant", "On the fjord.", at=1717408810.0, metadata={"model_slug": "gpt-4o"}),
        _node("q2", "about", "user", {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
              "Where can I row in Oslo?", at=1717408900.0, content_type="multimodal_text"),
        _node("think", "q2", "assistant", content_type="thoughts", thoughts=[{"summary": "Oslo"}]),
        _node("call", "think", "assistant", content_type="code", text='search("rowing")', recipient="browser"),
        _node("tool", "call", "tool", content_type="execution_output", text="Oslo Roklubb", name="browser"),
        _node("a2", "tool", "assistant", "At Oslo Roklubb.", at=1717408960.0),
        _node("q3", "a2", "user", {"content_type": "audio_transcription", "text": "Thank you!", "direction": "in"},
              at=1717409000.0, content_type="multimodal_text"),
    ]  # fmt: skip
    mapping = {node["id"]: node for node in nodes}
    first = {
        "title": "Rowing",
        "create_time": 1717408799.0,
        "mapping": mapping,
        "current_node": "q3",
        "conversation_id": "c-1",
        "id": "c-1",
    }
    looped = {
        "x": {"id": "x", "message": _node("x", "y", "user", "Round and round.")["message"], "parent": "y"},
        "y": {"id": "y", "message": None, "parent": "x"},
    }
    return [first, {"title": "Loop", "mapping": looped, "current_node": "x", "conversation_id": "c-2"}]


def claude() -> list[dict[str, Any]]:
    """One conversation with blocks and an attachment, and one of the older kind with text only."""
    return [
        {
            "uuid": "u-1",
            "name": "Bread",
            "created_at": "2024-06-03T10:00:00.000000Z",
            "account": {"uuid": "acc"},
            "chat_messages": [
                {
                    "uuid": "m-1",
                    "text": "How long should sourdough rest?",
                    "content": [{"type": "text", "text": "How long should sourdough rest?", "citations": []}],
                    "sender": "human",
                    "created_at": "2024-06-03T10:00:01.123456Z",
                    "attachments": [
                        {"file_name": "recipe.txt", "file_size": 20, "extracted_content": "500 g flour, 350 g water"}
                    ],
                    "files": [{"file_name": "bread.jpg"}],
                },
                {
                    "uuid": "m-2",
                    "text": "",
                    "content": [
                        {"type": "tool_use", "name": "web_search", "id": "t1", "input": {"query": "sourdough rest"}},
                        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "12 h"}]},
                        {"type": "text", "text": "About twelve hours."},
                    ],
                    "sender": "assistant",
                    "created_at": "2024-06-03T10:00:09Z",
                    "attachments": [],
                    "files": [],
                },
            ],
        },
        {
            "uuid": "u-2",
            "name": "",
            "chat_messages": [
                {"uuid": "m-3", "text": "Hello.", "sender": "human", "created_at": "2024-07-01T08:00:00Z"}
            ],
        },
    ]


def mem0() -> dict[str, Any]:
    """Two memories of a user, one of them updated, one of an agent, and one with nothing in it."""
    return {
        "results": [
            {
                "id": "m0-1",
                "memory": "Loves hiking in the Alps",
                "hash": "9f86d081",
                "metadata": {"type": "preference"},
                "categories": ["hobbies"],
                "created_at": "2024-06-03T02:11:25.163154-07:00",
                "updated_at": None,
                "user_id": "alice",
                "score": 0.4,
            },
            {
                "id": "m0-2",
                "memory": "Lives in Oslo",
                "hash": "60303ae2",
                "metadata": None,
                "created_at": "2023-01-01T00:00:00Z",
                "updated_at": "2024-01-01T00:00:00Z",
                "user_id": "alice",
                "agent_id": "planner",
                "run_id": "r-9",
            },
            {"id": "m0-3", "memory": "Answers in Norwegian", "agent_id": "planner"},
            {"id": "m0-4", "memory": " ", "user_id": "bob"},
        ],
        "relations": [{"source": "alice", "relationship": "lives_in", "target": "oslo"}],
    }
