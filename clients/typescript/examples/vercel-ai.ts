/**
 * A memory as tools of the Vercel AI SDK. It runs without an API key: a mock model plays the language model.
 *
 *     memorist serve memories/ &
 *     MEMORIST_URL=http://127.0.0.1:8765 node build/examples/vercel-ai.js
 */
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { Memorist } from "../src/index.ts"; // "@memorist/client" in your project

const memory = new Memorist({
  url: process.env["MEMORIST_URL"] ?? "http://127.0.0.1:8765",
  space: "vercel-ai",
  key: process.env["MEMORIST_KEY"],
});

/** The two tools that an agent needs. What they return is data for the model, never an instruction. */
export const tools = {
  remember: tool({
    description: "Keep something worth knowing later, in one self-contained sentence.",
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }, { abortSignal }) => {
      const kept = await memory.remember(text, {}, { signal: abortSignal });
      return { outcome: kept.outcome };
    },
  }),
  recall: tool({
    description: "Look up what is known about a question.",
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }, { abortSignal }) => {
      const found = await memory.recall(query, { limit: 5 }, { signal: abortSignal });
      return { context: found.context };
    },
  }),
};

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
    if (results.length === 0) return call("remember", { text: "The user keeps a boat called Heron in Bergen." });
    if (results.length === 1) return call("recall", { query: "Where is the boat called Heron?" });
    return {
      content: [{ type: "text" as const, text: `I looked it up: ${JSON.stringify(results.at(-1))}` }],
      finishReason: { unified: "stop" as const, raw: undefined },
      usage,
      warnings: [],
    };
  },
});

const { text, steps } = await generateText({
  model,
  tools,
  stopWhen: stepCountIs(5),
  prompt: "I keep my boat Heron in Bergen. Where is it?",
});
console.log(`${steps.length} steps. ${text}`);
