/**
 * A memory as tools of the Vercel AI SDK. It runs without an API key: a mock model plays the language model.
 *
 *     memorist serve memories/ &
 *     MEMORIST_URL=http://127.0.0.1:8765 node build/examples/vercel-ai.js
 */
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
import { Memorist } from "../src/index.ts"; // "@memorist/client" in your project
import { mockModel } from "./mock-model.ts";

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

const { text, steps } = await generateText({
  model: mockModel("The user keeps a boat called Heron in Bergen.", "Where is the boat called Heron?"),
  tools,
  stopWhen: stepCountIs(5),
  prompt: "I keep my boat Heron in Bergen. Where is it?",
});
console.log(`${steps.length} steps. ${text}`);
