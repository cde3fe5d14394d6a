"""What clients send to hooks, after their documentation; the texts are ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ERROR = "Exit code 1\nError: Cannot find module 'left-pad'\n    at load (loader.js:3)"
Sample = dict[str, Any]


def claude_code(event: str, folder: Path, **more: Any) -> Sample:
    """https://docs.claude.com/en/docs/claude-code/hooks"""
    transcript = str(folder.parent / "transcript.jsonl")
    common = {"session_id": "00893aaf", "transcript_path": transcript, "cwd": str(folder), "permission_mode": "default"}
    return {**common, "hook_event_name": event, **more}


def failed(folder: Path, command: str = "pnpm test", error: str = ERROR, **more: Any) -> Sample:
    tool = {"tool_name": "Bash", "tool_input": {"command": command, "description": "Run the tests"}}
    return (
        claude_code("PostToolUseFailure", folder, **tool, tool_use_id="toolu_1", error=error, is_interrupt=False) | more
    )


def sample(client: str, event: str, folder: Path, transcript: Path | None = None) -> Sample:
    """A call of an event by a client; its prompt asks for the port of Redis."""
    prompt, path = "Which port does Redis use in the integration tests?", str(transcript or folder / "none.jsonl")
    if client == "cursor":
        common = {
            **{"conversation_id": "c-1", "generation_id": "g-1", "model": "auto", "cursor_version": "2.4.21"},
            **{"workspace_roots": [str(folder)], "user_email": None, "transcript_path": path},
        }
        own: dict[str, Sample] = {
            "session-start": {"hook_event_name": "sessionStart", "session_id": "c-1", "composer_mode": "agent"},
            "tool-failure": {
                **{
                    "hook_event_name": "postToolUseFailure",
                    "tool_name": "Shell",
                    "tool_input": {"command": "pnpm test"},
                },
                **{"error_message": ERROR, "failure_type": "error", "is_interrupt": False, "cwd": str(folder)},
            },
            "stop": {"hook_event_name": "stop", "status": "completed", "loop_count": 0},
            "pre-compact": {"hook_event_name": "preCompact", "trigger": "auto", "context_usage_percent": 85},
        }
        return {**common, **own[event]}
    if client == "windsurf":
        info = {"transcript_path": path}
        return {
            **{"agent_action_name": "post_cascade_response_with_transcript", "trajectory_id": "t-1"},
            **{"execution_id": "e-1", "timestamp": "2025-11-13T10:00:00Z", "tool_info": info},
        }
    common = {"session_id": "s-1", "transcript_path": path, "cwd": str(folder)}
    if client == "gemini":
        common["timestamp"] = "2025-11-13T10:00:00Z"
        own = {
            "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
            "prompt": {"hook_event_name": "BeforeAgent", "prompt": prompt},
            "tool-failure": {
                **{"hook_event_name": "AfterTool", "tool_name": "run_shell_command"},
                **{"tool_input": {"command": "pnpm test"}},
                "tool_response": {"llmContent": ERROR, "returnDisplay": ERROR, "error": {"message": ERROR}},
            },
            "stop": {
                **{"hook_event_name": "AfterAgent", "prompt": "From now on, always answer in English, please."},
                **{"prompt_response": "I will.", "stop_hook_active": False},
            },
            "pre-compact": {"hook_event_name": "PreCompress", "trigger": "auto"},
        }
        return {**common, **own[event]}
    if client == "codex":
        common |= {"model": "gpt-5-codex", "permission_mode": "default", "turn_id": "1"}
    own = {
        "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": prompt},
        "tool-failure": failed(folder),
        "stop": {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "Done."},
        "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""},
    }
    return {**common, **own[event]}


ASKED = "Get the test suite green. From now on, always write commit messages in English."
DONE = "The suite is green: left-pad was missing from the dev dependencies."


def claude_transcript() -> list[Sample]:
    """A turn in which the tests fail, a package is added, and they succeed."""

    def line(role: str, content: Any, **more: Any) -> Sample:
        return {"type": role, "message": {"role": role, "content": content}, "sessionId": "00893aaf", **more}

    def call(id: str, command: str) -> Sample:
        return line("assistant", [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}])

    def result(id: str, text: str, **more: Any) -> Sample:
        return line("user", [{"type": "tool_result", "tool_use_id": id, "content": text, **more}])

    return [
        line("user", "<command-name>/clear</command-name>"),
        line("user", "Caveat: the messages below were written by the user.", isMeta=True),
        line("user", ASKED, timestamp="2025-11-13T10:00:00.000Z"),
        line("assistant", [{"type": "text", "text": "I will run the tests."}]),
        call("t1", "pnpm test"),
        result("t1", ERROR, is_error=True),
        line("assistant", [{"type": "text", "text": "Chatter of a subagent."}], isSidechain=True),
        call("t2", "pnpm add -D left-pad"),
        result("t2", "done"),
        call("t3", "pnpm test"),
        result("t3", "ok: 12 tests"),
        line("assistant", [{"type": "text", "text": DONE}]),
        {"type": "file-history-snapshot", "snapshot": {}},
    ]


def codex_transcript() -> list[Sample]:
    def item(**payload: Any) -> Sample:
        return {"timestamp": "2025-11-13T10:00:00.000Z", "type": "response_item", "payload": payload}

    def call(id: str, command: str) -> Sample:
        arguments = json.dumps({"command": ["bash", "-lc", command]})
        return item(type="function_call", name="shell", arguments=arguments, call_id=id)

    def output(id: str, text: str, code: int) -> Sample:
        told = json.dumps({"output": text, "metadata": {"exit_code": code}})
        return item(type="function_call_output", call_id=id, output=told)

    return [
        {"type": "session_meta", "payload": {"id": "s-1"}},
        item(type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>"}]),
        item(type="message", role="user", content=[{"type": "input_text", "text": ASKED}]),
        *(call("1", "pnpm test"), output("1", ERROR, 1)),
        *(call("2", "pnpm add -D left-pad"), output("2", "done", 0)),
        *(call("3", "pnpm test"), output("3", "ok", 0)),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": DONE}]),
    ]


def cursor_transcript() -> list[Sample]:
    return [
        {"role": "user", "message": {"content": [{"type": "text", "text": ASKED}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": DONE}]}},
    ]


def windsurf_transcript() -> list[Sample]:
    return [
        {"status": "done", "type": "user_input", "user_input": {"user_response": ASKED}},
        {"status": "done", "type": "planner_response", "planner_response": {"response": DONE}},
    ]


TRANSCRIPTS = {
    "claude-code": claude_transcript,
    "codex": codex_transcript,
    "cursor": cursor_transcript,
    "windsurf": windsurf_transcript,
}


def write_transcript(file: Path, lines: list[Sample]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file
