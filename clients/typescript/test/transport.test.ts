import assert from "node:assert/strict";
import { test } from "node:test";
import { Memorist, MemoristError } from "../src/index.ts";
import { search } from "../src/transport.ts";

type Call = { url: string; init: RequestInit };

/** A fetch that answers from a list, and the calls that it got. */
function scripted(...answers: (Response | Error | "never")[]) {
  const calls: Call[] = [];
  const fetch = ((url: string, init: RequestInit) => {
    calls.push({ url, init });
    const answer = answers[Math.min(calls.length, answers.length) - 1];
    if (answer === "never") return new Promise((_, reject) => rejectWith(init.signal, reject));
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer?.clone());
  }) as typeof globalThis.fetch;
  return { fetch, calls };
}

function rejectWith(signal: AbortSignal | null | undefined, reject: (reason: unknown) => void) {
  if (signal?.aborted) reject(signal.reason);
  signal?.addEventListener("abort", () => reject(signal.reason));
}

function problem(status: number, name: string, headers: Record<string, string> = {}): Response {
  const body = { type: `urn:memorist:${name}`, title: name, status, detail: "It is so", remedy: "Do this.", request_id: "r1" };
  return new Response(JSON.stringify(body), { status, headers });
}

const ok = (value: unknown) => new Response(JSON.stringify(value));
const keyOf = (call: Call | undefined) => new Headers(call?.init.headers).get("Idempotency-Key");

test("a busy server is asked again, with the same key, after the time it asks for", async () => {
  const { fetch, calls } = scripted(problem(503, "overloaded", { "Retry-After": "0" }), ok({ id: "m" }));
  const memory = new Memorist({ url: "http://server.example/", fetch });
  await memory.remember("Hello.");
  assert.equal(calls.length, 2);
  assert.ok(keyOf(calls[0]) && keyOf(calls[0]) === keyOf(calls[1]));
  assert.equal(calls[0]?.url, "http://server.example/v1/spaces/default/memories");
  await memory.remember("Hello.");
  assert.notEqual(keyOf(calls[0]), keyOf(calls[2]));
});

test("a write that is still under way is asked for again, a refusal is not", async () => {
  const waiting = scripted(problem(409, "request-under-way", { "Retry-After": "0" }), ok({}));
  await new Memorist({ url: "http://s.example", fetch: waiting.fetch }).remember("x");
  assert.equal(waiting.calls.length, 2);
  const refused = scripted(problem(422, "invalid-input"));
  await assert.rejects(new Memorist({ url: "http://s.example", fetch: refused.fetch }).remember("x"));
  assert.equal(refused.calls.length, 1);
});

test("the number of repeats is limited", async () => {
  const { fetch, calls } = scripted(problem(429, "too-many-requests", { "Retry-After": "0" }));
  const memory = new Memorist({ url: "http://s.example", fetch, retries: 2 });
  await assert.rejects(memory.stats(), { problem: "too-many-requests", remedy: "Do this.", requestId: "r1" });
  assert.equal(calls.length, 3);
  assert.equal(keyOf(calls[0]), null);
});

test("no answer, another server and a redirection are told apart from a problem", async () => {
  const silent = new Memorist({ url: "http://s.example", fetch: scripted(new TypeError("refused")).fetch, retries: 0 });
  await assert.rejects(silent.stats(), { problem: "unreachable", status: 0 });
  for (const answer of [new Response("<html>"), new Response("<html>", { status: 500 }), ok([]).clone()]) {
    const proxy = new Memorist({ url: "http://s.example", fetch: scripted(answer).fetch, retries: 0 });
    if (answer.status === 500) await assert.rejects(proxy.stats(), { problem: "unreachable", status: 500 });
  }
  const { fetch, calls } = scripted(new Response(null, { status: 302, headers: { Location: "http://evil.example" } }));
  const moved = new Memorist({ url: "http://s.example", key: "rk_1", fetch, retries: 0 });
  await assert.rejects(moved.stats(), { problem: "unreachable" });
  assert.equal(calls[0]?.init.redirect, "manual");
});

test("a call ends when its signal does, and when its time is over", async () => {
  const { fetch, calls } = scripted("never");
  const memory = new Memorist({ url: "http://s.example", fetch, timeout: 20, retries: 1 });
  const stop = new AbortController();
  const waiting = memory.stats({ signal: stop.signal, timeout: 60_000 });
  stop.abort(new Error("no longer needed"));
  await assert.rejects(waiting, { message: "no longer needed" });
  assert.equal(calls.length, 1);
  await assert.rejects(memory.stats(), { problem: "timeout" });
  assert.equal(calls.length, 3);
  await assert.rejects(memory.stats({ signal: AbortSignal.abort(new Error("before")) }), { message: "before" });
});

test("a pause between repeats ends with the signal", async () => {
  const { fetch } = scripted(problem(503, "overloaded", { "Retry-After": "20" }));
  const stop = new AbortController();
  const waiting = new Memorist({ url: "http://s.example", fetch }).stats({ signal: stop.signal });
  setImmediate(() => stop.abort(new Error("enough")));
  await assert.rejects(waiting, { message: "enough" });
});

test("events arrive in any pieces, and a lost connection is an error", async () => {
  const text = 'event: progress\ndata: {"done":1}\n\n: still here\n\nevent: done\ndata: {"kept":1,"note":"é"}\n\n';
  const bytes = new TextEncoder().encode(text);
  const stream = (end: number) =>
    new Response(
      new ReadableStream({
        start(control) {
          for (const byte of bytes.slice(0, end)) control.enqueue(new Uint8Array([byte]));
          control.close();
        },
      }),
    );
  const once = (response: Response) => (() => Promise.resolve(response)) as typeof globalThis.fetch;
  const told: number[] = [];
  const memory = new Memorist({ url: "http://s.example", fetch: once(stream(bytes.length)) });
  const report = await memory.ingest([], { onProgress: (done) => told.push(done) });
  assert.deepEqual([report, told], [{ kept: 1, note: "é" }, [1]]);
  const cut = new Memorist({ url: "http://s.example", fetch: once(stream(40)) });
  await assert.rejects(cut.ingest([]), { problem: "unreachable", remedy: "Ingest it again: it continues from there." });
  const failed = new Response('event: problem\ndata: {"type":"urn:memorist:invalid-input","detail":"No","remedy":"Yes"}\n\n');
  await assert.rejects(new Memorist({ url: "http://s.example", fetch: once(failed) }).ingest([]), {
    problem: "invalid-input",
  });
});

test("wrong options are refused at once, without showing a key", () => {
  for (const url of ["nonsense", "ftp://s.example", "http://user:pass@s.example", "http://s.example/?key=1"]) {
    assert.throws(() => new Memorist({ url }), { problem: "invalid-argument" });
  }
  assert.throws(
    () => new Memorist({ url: "http://s.example", key: "rk_ü secret" }),
    (error) => error instanceof MemoristError && !error.message.includes("secret"),
  );
});

test("query parameters are written as the server reads them", () => {
  const at = new Date("2024-06-03T10:00:00Z");
  const query = { limit: 5, cursor: null, as_of: at, scope: ["a b", "c"], include_expired: false, where: { colour: "red" } };
  assert.equal(
    decodeURIComponent(search(query)).replaceAll("+", " "),
    '?limit=5&as_of=2024-06-03T10:00:00.000Z&scope=a b&scope=c&include_expired=false&where={"colour":"red"}',
  );
  assert.equal(search({}), "");
});
