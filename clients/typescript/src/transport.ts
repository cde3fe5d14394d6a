import { fromProblem, MemoristError, unreadable } from "./errors.ts";

/** How to reach a space of a server. */
export interface Options {
  /** The address of the server, such as `http://127.0.0.1:8765`. */
  url: string;
  /** An API key; a server on a loopback address may need none. */
  key?: string | undefined;
  /** The space; `default` if left out. */
  space?: string | undefined;
  /** A replacement for the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds to wait for an answer; 60,000 if left out. */
  timeout?: number | undefined;
  /** How often a request without an answer is sent again; 3 if left out. The server performs a write once. */
  retries?: number | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call; it then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Milliseconds to wait for an answer, instead of those of the client. */
  timeout?: number | undefined;
  /** A name for this write: a second call with it returns the answer of the first. A random one if left out. */
  idempotencyKey?: string | undefined;
}

export type Query = object;
type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The statuses after which the same request is sent again. */
const AGAIN = new Set([429, 502, 503, 504]);
const LONGEST_WAIT = 30_000;
const FIRST_WAIT = 250;
/** Milliseconds to wait for a verb that reads or writes many memories. */
export const LONG = 3_600_000;

/** Requests to one space: headers, safe repeats, and the errors of the server. */
export class Transport {
  readonly #base: string;
  readonly #root: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeout: number;
  readonly #retries: number;

  constructor(options: Options) {
    this.#root = address(options.url);
    this.#base = `${this.#root}/v1/spaces/${encodeURIComponent(options.space ?? "default")}`;
    this.#headers = { Accept: "application/json", ...authorization(options.key) };
    this.#fetch = options.fetch ?? ((...given) => globalThis.fetch(...given));
    this.#timeout = options.timeout ?? 60_000;
    this.#retries = options.retries ?? 3;
  }

  /** The answer to a question. */
  get<T>(path: string, query: Query = {}, call: CallOptions = {}): Promise<T> {
    return this.#answer<T>("GET", this.#base + path + search(query), undefined, call);
  }

  /** The answer of a part of the server that belongs to no space. */
  outside<T>(path: string, call: CallOptions = {}): Promise<T> {
    return this.#answer<T>("GET", this.#root + path, undefined, call);
  }

  /** The answer to a write, or to a question with a body. It may be sent several times; the server performs it once. */
  send<T>(method: Exclude<Method, "GET">, path: string, body?: object, call: CallOptions = {}): Promise<T> {
    return this.#answer<T>(method, this.#base + path, body, call);
  }

  /** The events of a long piece of work, each with its name and data, while the server works. */
  async *events(
    path: string,
    body: BodyInit,
    type: string,
    query: Query,
    call: CallOptions,
  ): AsyncGenerator<[string, unknown]> {
    const headers = { ...this.#headers, Accept: "text/event-stream", "Content-Type": type };
    const url = this.#base + path + search(query);
    const limit = deadline(call.timeout ?? LONG, call.signal);
    try {
      const response = await this.#once(url, { method: "POST", headers, body, signal: limit.signal });
      if (!response.ok || response.body === null) throw await failure(response);
      yield* eventsOf(response.body);
    } catch (error) {
      throw limit.explained(error);
    } finally {
      limit.clear();
    }
  }

  async #answer<T>(method: Method, url: string, body: object | undefined, call: CallOptions): Promise<T> {
    const headers: Record<string, string> = { ...this.#headers };
    if (method !== "GET") headers["Idempotency-Key"] = call.idempotencyKey ?? randomName();
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const request: RequestInit = { method, headers };
    if (body !== undefined) request.body = JSON.stringify(body);
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= this.#retries;
      const outcome = await this.#attempt(url, request, call, last);
      if (outcome.wait === undefined) return outcome.value as T;
      await pause(outcome.wait ?? FIRST_WAIT * 2 ** attempt * (0.5 + Math.random() / 2), call.signal);
    }
  }

  /** One attempt: its value, or how long to wait before the next (null if the server did not say). */
  async #attempt(
    url: string,
    request: RequestInit,
    call: CallOptions,
    last: boolean,
  ): Promise<{ value?: unknown; wait?: number | null }> {
    const limit = deadline(call.timeout ?? this.#timeout, call.signal);
    try {
      const response = await this.#once(url, { ...request, signal: limit.signal });
      if (response.ok) return { value: await json(response) };
      const error = await failure(response);
      const again = AGAIN.has(response.status) || error.problem === "request-under-way";
      if (last || !again) throw error;
      return { wait: retryAfter(response) };
    } catch (error) {
      const explained = limit.explained(error);
      const lost = explained instanceof MemoristError && explained.status === 0;
      if (last || !lost) throw explained;
      return { wait: null };
    } finally {
      limit.clear();
    }
  }

  /** A request without redirections: a key goes to the address that was given, and nowhere else. */
  #once(url: string, request: RequestInit): Promise<Response> {
    return this.#fetch(url, { ...request, redirect: "manual" });
  }
}

function address(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw invalid("The address is not a URL", "Pass one such as http://127.0.0.1:8765.");
  }
  if (!/^https?:$/.test(parsed.protocol) || parsed.username || parsed.search || parsed.hash) {
    throw invalid("The address is not a plain http or https URL", "Pass a key as `key`, not in the URL.");
  }
  return parsed.href.replace(/\/+$/, "");
}

/** The header that shows a key. The key itself is in no message. */
function authorization(key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw invalid("The key has characters that no key has", "Copy it as `memorist keys create` printed it.");
  }
  return { Authorization: `Bearer ${key}` };
}

/** A random name. `crypto.randomUUID` is missing on pages without TLS. */
function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function invalid(detail: string, remedy: string): MemoristError {
  return new MemoristError("invalid-argument", detail, remedy);
}

/** Query parameters without those that are left out: moments as ISO 8601, lists repeated, objects as JSON. */
export function search(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, written(one));
  }
  const text = parameters.toString();
  return text && `?${text}`;
}

function written(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A signal that ends when the caller's does or the time is over, and the error that says which. */
function deadline(milliseconds: number, outer: AbortSignal | undefined) {
  const inner = new AbortController();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    inner.abort();
  }, Math.min(milliseconds, 2 ** 31 - 1));
  const stop = () => inner.abort(outer?.reason);
  if (outer?.aborted) stop();
  outer?.addEventListener("abort", stop, { once: true });
  return {
    signal: inner.signal,
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", stop);
    },
    explained(error: unknown): unknown {
      if (error instanceof MemoristError) return error;
      if (outer?.aborted) return outer.reason;
      const cause = { cause: error };
      if (late) {
        const detail = `The server did not answer within ${milliseconds / 1000} s`;
        return new MemoristError("timeout", detail, "Raise `timeout`, or look at the server.", 0, null, cause);
      }
      const detail = "The server does not respond";
      return new MemoristError("unreachable", detail, "Check the address, and that it is running.", 0, null, cause);
    },
  };
}

async function json(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(response.status);
  }
}

async function failure(response: Response): Promise<MemoristError> {
  try {
    return fromProblem(await json(response)) ?? unreadable(response.status);
  } catch (error) {
    if (error instanceof MemoristError) return error;
    throw error;
  }
}

/** How many milliseconds the server asks to wait; null if it does not say. */
function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, LONGEST_WAIT) : null;
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The events of a stream, as the server writes them: a name and one line of JSON each. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<[string, unknown]> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  let name = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) {
        if (line.startsWith("event: ")) name = line.slice(7).trim();
        else if (line.startsWith("data: ")) yield [name, parsed(line.slice(6))];
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable();
  }
}
