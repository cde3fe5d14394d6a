import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The Python that runs the server: that of the caller, or of the repository. */
const PYTHON = process.env.MEMORIST_PYTHON ?? fileURLToPath(new URL("../../../../.venv/bin/python", import.meta.url));
const DATABASE = ["-m", "memorist", "--embedder", "none"];

/** A real server on a folder of its own. */
export class Server {
  readonly folder = mkdtempSync(join(tmpdir(), "memorist-"));
  url = "";
  #process: ChildProcess | undefined;

  async start(): Promise<this> {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const options = ["serve", `${this.folder}/spaces/`, "--port", String(port)];
    const where = { env: { ...process.env, HOME: this.folder }, cwd: this.folder };
    const started = spawn(PYTHON, [...DATABASE, ...options], { ...where, stdio: ["ignore", "pipe", "pipe"] });
    this.#process = started;
    let said = "";
    started.stderr.on("data", (data) => (said += data));
    started.stdout.on("data", (data) => (said += data));
    for (;;) {
      if (started.exitCode !== null) throw new Error(`The server ended: ${said}`);
      if (await answers(this.url)) return this;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** A new key. */
  key(space: string, rights: string): string {
    const options = ["--db", `${this.folder}/spaces/`, "keys", "create", space, "--rights", rights, "--json"];
    const env = { ...process.env, HOME: this.folder };
    const made = execFileSync(PYTHON, [...DATABASE, ...options], { env, cwd: this.folder, encoding: "utf8" });
    return JSON.parse(made).secret;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process?.once("exit", resolve));
    this.#process?.kill();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}
