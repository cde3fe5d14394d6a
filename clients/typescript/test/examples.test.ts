import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Memorist } from "../src/index.ts";
import { Server } from "./server.ts";

let server: Server;
before(async () => {
  server = await new Server().start();
});
after(() => server.stop());

for (const [name, answer] of [
  ["vercel-ai", /3 steps\. I looked it up: .*boat called Heron in Bergen/],
  ["mastra", /I looked it up: .*ferry to Bergen leaves at seven/],
] as const) {
  test(`the example ${name} runs without an API key`, async () => {
    const file = fileURLToPath(new URL(`../examples/${name}.js`, import.meta.url));
    const env = { ...process.env, MEMORIST_URL: server.url };
    const ran = spawnSync(process.execPath, [file], { env, encoding: "utf8", timeout: 120_000 });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, answer);
    assert.equal((await new Memorist({ url: server.url, space: name }).stats()).memories, 1);
  });
}
