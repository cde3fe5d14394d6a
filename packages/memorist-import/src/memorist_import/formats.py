"""The formats of this distribution: what recognises each, and what reads it."""

from __future__ import annotations

from memorist.remember.ingest.formats import FileFormat, FolderFormat, Format, ObjectFormat
from memorist_import.abmind import abmind_drafts, is_abmind
from memorist_import.agents import is_langgraph, is_letta, langgraph_drafts, letta_drafts
from memorist_import.archives import is_zip
from memorist_import.bundles import EXPORTS, zip_drafts
from memorist_import.claude_code import (
    is_claude_code,
    is_memory_file,
    is_tool_output,
    memory_file_drafts,
    tool_output,
    transcript_drafts,
)
from memorist_import.cognee import CogneeReader, is_cognee
from memorist_import.databases import database_drafts, database_format, is_database
from memorist_import.datasets import is_locomo, is_longmemeval, locomo_drafts, longmemeval_drafts
from memorist_import.exports import chatgpt_turns, claude_turns, is_chatgpt, is_claude, is_mem0, mem0_memories
from memorist_import.graphs import GraphReader, is_graphiti, is_mcp_memory, is_zep, mcp_memory_drafts, zep_drafts
from memorist_import.hindsight import hindsight_drafts, is_hindsight
from memorist_import.honcho import honcho_drafts, is_honcho
from memorist_import.html import html_drafts, is_html
from memorist_import.hybrid import hybrid_drafts, is_hybrid
from memorist_import.memoria import MemoriaReader, is_memoria
from memorist_import.mnemo import is_mnemo, mnemo_drafts
from memorist_import.nodes import NodeReader, is_nodes
from memorist_import.pdf import is_pdf, pdf_drafts
from memorist_import.slack import Channel, is_slack
from memorist_import.supermemory import is_supermemory, supermemory_drafts

FILES = (
    FileFormat("zip", is_zip, zip_drafts, packed=True),
    FileFormat("sqlite", is_database, database_drafts, inner=database_format, packed=True),
    FileFormat("pdf", is_pdf, pdf_drafts),
    FileFormat("html", is_html, html_drafts),
    FileFormat("markdown", is_memory_file, memory_file_drafts),
)
OBJECTS = (
    ObjectFormat("mnemosyne-hybrid", is_hybrid, hybrid_drafts),
    ObjectFormat("mnemosyne-graph", is_nodes, NodeReader),
    ObjectFormat("abmind", is_abmind, abmind_drafts),
    ObjectFormat("mnemo", is_mnemo, mnemo_drafts),
    ObjectFormat("memoria", is_memoria, MemoriaReader),
    ObjectFormat("hindsight", is_hindsight, hindsight_drafts),
    ObjectFormat("honcho", is_honcho, honcho_drafts),
    ObjectFormat("cognee", is_cognee, CogneeReader),
    ObjectFormat("supermemory", is_supermemory, supermemory_drafts),
    ObjectFormat("chatgpt", is_chatgpt, chatgpt_turns),
    ObjectFormat("claude", is_claude, claude_turns),
    ObjectFormat("locomo", is_locomo, locomo_drafts),
    ObjectFormat("longmemeval", is_longmemeval, longmemeval_drafts),
    ObjectFormat("letta", is_letta, letta_drafts),
    ObjectFormat("graphiti", is_graphiti, GraphReader),
    ObjectFormat("zep", is_zep, zep_drafts),
    ObjectFormat("langgraph", is_langgraph, langgraph_drafts),
    ObjectFormat("mcp-memory", is_mcp_memory, mcp_memory_drafts),
    ObjectFormat("claude-code", is_claude_code, transcript_drafts),
    ObjectFormat("slack", is_slack, Channel),
    ObjectFormat("mem0", is_mem0, mem0_memories),
)
FOLDERS = (
    FolderFormat("claude-code", is_tool_output, tool_output, lambda path: 0),
    *(export.folder() for export in EXPORTS),
)
FORMATS: tuple[Format, ...] = (*FILES, *OBJECTS, *FOLDERS)
"""All of them, the most specific first."""
