import { MockLanguageModelV3 } from "ai/test";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Plays a language model: it remembers a sentence, looks a question up, and answers with what it found. */
export function mockModel(sentence: string, question: string): MockLanguageModelV3 {
  const call = (toolName: string, input: object) => ({
    content: [{ type: "tool-call" as const, toolCallId: toolName, toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls" as const, raw: undefined },
    usage,
    warnings: [],
  });
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const results = prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
      if (results.length === 0) return call("remember", { text: sentence });
      if (results.length === 1) return call("recall", { query: question });
      return {
        content: [{ type: "text" as const, text: `I looked it up: ${JSON.stringify(results.at(-1))}` }],
        finishReason: { unified: "stop" as const, raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}
