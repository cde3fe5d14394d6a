/**
 * A memory for a Mastra agent: tools to write and look up, and what is known in its instructions. It runs without an
 * API key: a mock model plays the language model.
 *
 *     memorist serve memories/ &
 *     MEMORIST_URL=http://127.0.0.1:8765 node build/examples/mastra.js
 */
import "./quiet.ts";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { Memorist } from "../src/index.ts"; // "@memorist/client" in your project

const memory = new Memorist({
  url: process.env["MEMORIST_URL"] ?? "http://127.0.0.1:8765",
  space: "mastra",
  key: process.env["MEMORIST_KEY"],
});

const remember = createTool({
  id: "remember",
  description: "Keep something worth knowing later, in one self-contained sentence.",
  inputSchema: z.object({ text: z.string() }),
  outputSchema: z.object({ outcome: z.string() }),
  execute: async ({ text }) => ({ outcome: (await memory.remember(text)).outcome }),
});

const recall = createTool({
  id: "recall",
  description: "Look up what is known about a question.",
  inputSchema: z.object({ query: z.string() }),
  outputSchema: z.object({ context: z.string() }),
  execute: async ({ query }) => ({ context: (await memory.recall(query, { limit: 5 })).context }),
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that remembers what it is told, looks it up, and answers with what it found. */
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const results = prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
    const call = (toolName: string, input: object) => ({
      content: [{ type: "tool-call" as const, toolCallId: toolName, toolName, input: JSON.stringify(input) }],
      finishReason: { unified: "tool-calls" as const, raw: undefined },
      usage,
      warnings: [],
    });
    if (results.length === 0) return call("remember", { text: "The user's ferry to Bergen leaves at seven." });
    if (results.length === 1) return call("recall", { query: "When does the ferry leave?" });
    return {
      content: [{ type: "text" as const, text: `I looked it up: ${JSON.stringify(results.at(-1))}` }],
      finishReason: { unified: "stop" as const, raw: undefined },
      usage,
      warnings: [],
    };
  },
});

const agent = new Agent({
  id: "guide",
  name: "guide",
  model,
  tools: { remember, recall },
  // Pinned memories and standing wishes are known before the first word.
  instructions: async () => {
    const pinned = await memory.pinned({ limit: 20 });
    return ["You are a travel guide.", ...pinned.map((one) => `The user said: ${JSON.stringify(one.text)}`)].join("\n");
  },
});

const answer = await agent.generate("My ferry to Bergen leaves at seven. When was that again?");
console.log(answer.text);
