import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Memorist, MemoristError } from "../src/index.ts";
import { Server } from "./server.ts";

let server: Server;
let memory: Memorist;

before(async () => {
  server = await new Server().start();
  memory = new Memorist({ url: server.url, space: "agent", retries: 0 });
});

after(() => server.stop());

test("remembers, recalls and says why", async () => {
  const kept = await memory.remember("Alice moved to Stockholm.", { at: new Date("2024-06-03T10:00:00Z"), topic: "home" });
  assert.equal(kept.outcome, "kept");
  assert.equal(kept.valid_from, "2024-06-03T10:00:00Z");
  const found = await memory.recall("Where did Alice move?", { limit: 3 });
  assert.equal(found.items[0]?.id, kept.id);
  assert.match(found.context, /Stockholm/);
  const reason = await memory.explain("Where did Alice move?", kept.id);
  assert.ok(reason.details.length > 0);
  const absence = await memory.whyNot("Where did Alice move?", kept.id, { topic: "work" });
  assert.equal(absence.id, kept.id);
  assert.notEqual(absence.stage, null);
});

test("keeps many in batches, each once", async () => {
  const texts = Array.from({ length: 300 }, (_, number) => `The heron of day ${number} stood by the weir.`);
  const many = memory.in("many");
  const kept = await many.rememberMany([...texts, { text: "An egret, too.", keywords: ["bird"] }]);
  assert.equal(kept.length, 301);
  assert.deepEqual(kept.at(-1)?.keywords, ["bird"]);
  assert.equal((await many.rememberMany(texts.slice(0, 3))).every((one) => one.outcome === "known"), true);
  const all: string[] = [];
  for await (const one of many.all({ limit: 90 })) all.push(one.id);
  assert.equal(new Set(all).size, 301);
});

test("ingests messages and files, and tells how far it is", async () => {
  const messages = [
    { role: "user", name: "Ann", content: "I row at dawn.", at: "2024-06-03" },
    { role: "assistant", content: "Noted." },
    { role: "system", content: "Be kind." },
  ];
  const told: number[] = [];
  const report = await memory.ingest(messages, { session: "talk", onProgress: (done) => told.push(done) });
  assert.deepEqual([report.kept, report.sessions, told.at(-1)], [2, 1, 2]);
  assert.equal(report.skipped[0]?.reason, "a system prompt is an instruction, not a memory");
  const page = "<!doctype html><html><body><main><h1>Tides</h1><p>High tide is at noon.</p></main></body></html>";
  const file = await memory.ingestFile("tides.html", page);
  assert.deepEqual([file.kept, file.files], [1, 1]);
  assert.equal((await memory.ingestFile("tides.html", new TextEncoder().encode(page))).known, 1);
  await assert.rejects(memory.ingestFile("photo.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47])), (error) => {
    assert.ok(error instanceof MemoristError);
    assert.equal(error.problem, "invalid-input");
    assert.match(error.detail, /binary file/);
    return true;
  });
});

test("changes, relates, pins, ends, undoes and forgets", async () => {
  const kept = await memory.remember("The dinghy is blue.", { key: "dinghy" });
  const changed = await memory.update(kept.id, { text: "The dinghy is red.", importance: 0.9 });
  assert.deepEqual([changed.id, changed.version], [kept.id, 2]);
  assert.deepEqual((await memory.history(kept.id)).map((one) => one.text), ["The dinghy is red.", "The dinghy is blue."]);
  const fact = await memory.relate("Ann", "lives_in", "Oslo", { valid_from: "2021-05-01" });
  assert.equal(fact.fact?.object, "Oslo");
  assert.equal((await memory.entities({ prefix: "An" }))[0]?.name, "Ann");
  const around = await memory.neighbours("Ann", { hops: 1 });
  assert.ok(around.edges.length > 0);
  assert.equal((await memory.pin(kept.id)).tier, "pinned");
  assert.deepEqual((await memory.pinned()).map((one) => one.id), [kept.id]);
  assert.notEqual((await memory.unpin(kept.id)).tier, "pinned");
  const found = await memory.recall("What colour is the dinghy?");
  await memory.feedback(kept.id, "useful", found);
  const [entry] = await memory.journal({ verb: "feedback", limit: 1 });
  assert.deepEqual(entry?.subjects, [kept.id]);
  assert.equal((await memory.undo(entry?.id ?? "")).id, entry?.id);
  const ended = await memory.invalidate(kept.id, { at: new Date() });
  assert.notEqual(ended.valid_to, null);
  const receipt = await memory.forget(kept.id);
  assert.ok(receipt.forgotten.includes(kept.id));
  assert.equal(await memory.get(kept.id), null);
  const others = await memory.in("scrap").rememberMany(["One scrap.", "Two scraps."]);
  const ids = others.map((one) => one.id);
  assert.deepEqual((await memory.in("scrap").get([...ids, "unknown"])).map((one) => one?.text ?? null), [
    "One scrap.",
    "Two scraps.",
    null,
  ]);
  const soft = await memory.in("scrap").forget({ ids: ids.slice(0, 1), soft: true });
  assert.notEqual((await memory.in("scrap").get(ids[0] ?? ""))?.valid_to, null);
  assert.equal((await memory.in("scrap").undo(soft.run ?? "")).id, soft.run);
  assert.equal((await memory.in("scrap").forget(ids.slice(0, 1))).forgotten.length, 1);
  assert.equal((await memory.in("scrap").forget({ scope: ["global"] })).forgotten.length, 1);
  await assert.rejects(memory.forget({}), { problem: "invalid-argument" });
  assert.ok((await memory.stats()).memories > 0);
  assert.ok((await memory.spaces()).includes("agent"));
});

test("follows the run of an agent", async () => {
  const session = await memory.session({ goal: "Book a boat", id: "run" });
  await session.step("The form is open.", { action: "Fill it in.", reward: 1 });
  const kept = await session.step("The boat is booked for Friday.");
  assert.equal(kept.session, "run");
  assert.equal((await session.recall("When is the boat booked?")).items.length, 0); // its own steps
  assert.equal((await session.commit()).session, "run");
  assert.ok((await session.recall("When is the boat booked?")).items.length > 0);
  const wrong = await session.step("The boat is a zebra.");
  assert.ok((await session.discard()).forgotten.includes(wrong.id));
  assert.equal(await memory.get(wrong.id), null);
});

test("tells an agent at its start what matters", async () => {
  const start = memory.in("start");
  await start.remember("Call me Jo.", { pinned: true });
  const rows = await start.remember("I row at dawn.", { speaker: "Ann", importance: 0.2 });
  await start.remember("The mill is red.", { importance: 0.9 });
  const known = await start.wakeUp({ speaker: "Ann", max_tokens: 400 });
  assert.equal(known.memories[1]?.id, rows.id);
  assert.match(known.context, /Call me Jo\. \(standing\)/);
  assert.ok(known.tokens <= 400);
});

test("a problem of the server is an error with its remedy", async () => {
  await assert.rejects(memory.remember(""), (error) => {
    assert.ok(error instanceof MemoristError && error instanceof Error);
    assert.deepEqual([error.problem, error.status], ["invalid-input", 422]);
    assert.ok(error.remedy.length > 0 && error.message.includes(error.remedy));
    assert.match(error.requestId ?? "", /\w/);
    return true;
  });
  await assert.rejects(memory.update("unknown", { text: "x" }), { problem: "not-found", status: 404 });
});

test("a key opens its space and no other, and is in no message", async (context) => {
  const guarded = await new Server().start();
  context.after(() => guarded.stop());
  const writer = new Memorist({ url: guarded.url, key: guarded.key("agent", "write"), space: "agent", retries: 0 });
  await writer.remember("The shed is locked.");
  const reader = new Memorist({ url: guarded.url, key: guarded.key("agent", "read"), space: "agent", retries: 0 });
  assert.equal((await reader.list({ limit: 1 })).items.length, 1);
  await assert.rejects(reader.remember("Not allowed."), { problem: "forbidden", status: 403 });
  await assert.rejects(reader.in("other").stats(), { problem: "forbidden", status: 403 });
  const wrong = new Memorist({ url: guarded.url, key: "rk_wrong", retries: 0 });
  await assert.rejects(wrong.stats(), (error) => {
    assert.ok(error instanceof MemoristError);
    assert.equal(error.problem, "unauthorized");
    assert.ok(!JSON.stringify([error.message, error.stack]).includes("rk_wrong"));
    return true;
  });
});

test("the same idempotency key is one write", async () => {
  const twice = { idempotencyKey: "once-and-only-once" };
  const [first, second] = [
    await memory.relate("Ann", "visited", "Bergen", {}, twice),
    await memory.relate("Ann", "visited", "Bergen", {}, twice),
  ];
  assert.deepEqual(first, second);
  await assert.rejects(memory.relate("Ann", "visited", "Rome", {}, twice), { problem: "idempotency-key-reused" });
});

test("a lost answer is asked for again, and the write happens once", async () => {
  let lost = 0;
  const flaky: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (lost++ === 0) throw new TypeError("the connection was lost after the write");
    return response;
  };
  const shaky = new Memorist({ url: server.url, space: "shaky", fetch: flaky, retries: 1 });
  const kept = await shaky.remember("The ferry leaves at seven.");
  assert.deepEqual([lost, kept.outcome], [2, "kept"]);
  assert.equal((await shaky.stats()).memories, 1);
});
