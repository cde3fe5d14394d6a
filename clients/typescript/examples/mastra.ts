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
import { z } from "zod";
import { Memorist } from "../src/index.ts"; // "@memorist/client" in your project
import { mockModel } from "./mock-model.ts";

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

const agent = new Agent({
  id: "guide",
  name: "guide",
  model: mockModel("The user's ferry to Bergen leaves at seven.", "When does the ferry leave?"),
  tools: { remember, recall },
  // Pinned memories and standing wishes are known before the first word.
  instructions: async () => {
    const pinned = await memory.pinned({ limit: 20 });
    return ["You are a travel guide.", ...pinned.map((one) => `The user said: ${JSON.stringify(one.text)}`)].join("\n");
  },
});

const answer = await agent.generate("My ferry to Bergen leaves at seven. When was that again?");
console.log(answer.text);
