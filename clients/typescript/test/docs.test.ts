import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = ["README.md", "../../docs/how-to/typescript.md"];
const GIVEN = 'import { Memorist as Client } from "@memorist/client";\ndeclare const memory: Client;\n';

test("the examples of the documentation are correctly typed", () => {
  const folder = join(ROOT, "build", "docs");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const blocks = PAGES.flatMap((page) => [...readFileSync(join(ROOT, page), "utf8").matchAll(/^```ts\n(.*?)^```/gms)]);
  assert.ok(blocks.length >= 5);
  blocks.forEach(([, code = ""], number) => {
    const defined = /const memory =/.test(code) ? "" : GIVEN;
    writeFileSync(join(folder, `example-${number}.ts`), `${defined}${code}\nexport {};\n`);
  });
  const paths = { "@memorist/client": ["../../src/index.ts"] };
  const compilerOptions = { noEmit: true, rootDir: "../..", paths, noUnusedLocals: false };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: ["*.ts"], exclude: [] }),
  );
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const checked = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  assert.equal(checked.status, 0, checked.stdout);
});
