import { fromProblem, MemoristError, unreadable } from "./errors.ts";
import { type CallOptions, invalid, LONG, type Options, type Query, Transport } from "./transport.ts";
import type {
  Absence,
  Commit,
  EntitiesQuery,
  EntitySummary,
  Entry,
  ExplainBody,
  Explanation,
  FeedbackBody,
  ForgetBody,
  FoundMemories,
  GateDecision,
  IngestFileQuery,
  IngestReport,
  InvalidateBody,
  JournalQuery,
  ListMemoriesQuery,
  Memory,
  Neighbourhood,
  NeighboursQuery,
  Page,
  PinnedQuery,
  Recall,
  RecallBody,
  Receipt,
  RelateBody,
  RememberBody,
  Remembered,
  SessionBody,
  SessionData,
  StepBody,
  StoreStats,
  UpdateBody,
  WakeUp,
  WakeUpBody,
} from "./types.ts";

/** Memories per request of `rememberMany`. */
const BATCH = 256;

type Items<T> = { items: T[] };
export type RememberOptions = Omit<RememberBody, "text">;
export type RelateOptions = Omit<RelateBody, "subject" | "relation" | "object">;
export type RecallOptions = Omit<RecallBody, "query">;
export type FeedbackVerdict = FeedbackBody["verdict"];
export type IngestFormat = NonNullable<IngestFileQuery["format"]>;

/** A recall, or as much of it as feedback needs. */
export type JudgedRecall = Pick<Recall, "id" | "query" | "now"> & { items: { id: string }[] };

export interface IngestOptions {
  /** The session that the texts belong to. */
  session?: string | undefined;
  /** The format; detected if left out. */
  format?: IngestFormat | undefined;
  /** Told how many texts are done so far. */
  onProgress?: ((done: number) => void) | undefined;
}

/** A memory on a server: one space, with the verbs of the Python client. */
export class Memorist {
  readonly #options: Options;
  readonly #transport: Transport;

  constructor(options: Options) {
    this.#options = { ...options };
    this.#transport = new Transport(options);
  }

  /** The name of the space. */
  get space(): string {
    return this.#options.space ?? "default";
  }

  /** The same server and key, and another space. */
  in(space: string): Memorist {
    return new Memorist({ ...this.#options, space });
  }

  /** The names of the spaces that the key may see. */
  async spaces(call?: CallOptions): Promise<string[]> {
    return (await this.#transport.outside<Items<string>>("/v1/spaces", call)).items;
  }

  // Writing

  /** Keep one memory, verbatim; it can be found as soon as this resolves. `outcome` says what became of it. */
  remember(text: string, fields: RememberOptions = {}, call?: CallOptions): Promise<Remembered> {
    return this.#post("/memories", { text, ...fields }, call);
  }

  /** Keep many, each a text or an object with `text` and the fields of `remember`, in batches. */
  async rememberMany(memories: Iterable<string | RememberBody>, call?: CallOptions): Promise<Remembered[]> {
    const all = Array.from(memories, (one) => (typeof one === "string" ? { text: one } : one));
    const kept: Remembered[] = [];
    for (let start = 0; start < all.length; start += BATCH) {
      const batch = all.slice(start, start + BATCH);
      const part = numbered(call, start);
      kept.push(...(await this.#post<Items<Remembered>>("/memories/batch", { memories: batch }, part)).items);
    }
    return kept;
  }

  /** Keep chat messages; known ones add nothing. */
  ingest(messages: readonly object[], options: IngestOptions = {}, call?: CallOptions): Promise<IngestReport> {
    const { onProgress, ...given } = options;
    const body = JSON.stringify({ messages, ...given });
    return this.#ingested("/ingest", body, "application/json", {}, onProgress, call);
  }

  /** Keep the texts of a file: a chat, notes, a page or an export of another product. Its name becomes the source. */
  ingestFile(
    name: string,
    content: Blob | Uint8Array<ArrayBuffer> | string,
    options: IngestOptions = {},
    call?: CallOptions,
  ): Promise<IngestReport> {
    const { onProgress, ...given } = options;
    const query = { name, ...given };
    return this.#ingested("/ingest/file", content, "application/octet-stream", query, onProgress, call);
  }

  /** Write a fact; a new value of a one-valued relation, such as lives_in, supersedes the old one. */
  relate(
    subject: string,
    relation: string,
    object: string,
    fields: RelateOptions = {},
    call?: CallOptions,
  ): Promise<Remembered> {
    return this.#post("/facts", { subject, relation, object, ...fields }, call);
  }

  /** Change a memory's text or other fields, as a new version with the same id; the old one becomes history. */
  update(id: string, changes: UpdateBody, call?: CallOptions): Promise<Remembered> {
    return this.#transport.send("PATCH", memory(id), changes, call);
  }

  /**
   * Erase one memory, several, or all that the filters choose, for good, with facts that rest on nothing else. With
   * `soft` among the filters or beside `ids`, they end now and stay in their history instead.
   */
  forget(what: string | readonly string[] | ForgetBody, call?: CallOptions): Promise<Receipt> {
    if (typeof what === "string") return this.#transport.send("DELETE", memory(what), undefined, call);
    const body = Array.isArray(what) ? { ids: what } : what;
    if (!Object.values(body).some((one) => one !== undefined && one !== null)) {
      const remedy = "Pass an id, a list of ids, or at least one filter.";
      return Promise.reject(invalid("Nothing says what to forget", remedy));
    }
    return this.#post("/forget", body, call);
  }

  /** Keep a memory at the head of every context, whoever said it; read it before you do. */
  pin(id: string, call?: CallOptions): Promise<Memory> {
    return this.#post(memory(id, "pin"), undefined, call);
  }

  /** Keep a memory no longer at the head of every context. */
  unpin(id: string, call?: CallOptions): Promise<Memory> {
    return this.#post(memory(id, "unpin"), undefined, call);
  }

  /** End a memory's truth at a moment, now by default; it stays in its history. */
  invalidate(id: string, options: InvalidateBody = {}, call?: CallOptions): Promise<Memory> {
    return this.#post(memory(id, "invalidate"), options, call);
  }

  /** Say how a memory served; with the recall, its question is kept too. */
  feedback(id: string, verdict: FeedbackVerdict, recall?: JudgedRecall, call?: CallOptions): Promise<Memory> {
    const asked = recall && {
      id: recall.id,
      query: recall.query,
      now: recall.now,
      items: recall.items.map((one) => ({ id: one.id })),
    };
    return this.#post("/feedback", { id, verdict, recall: asked ?? null }, call);
  }

  // Sessions

  /** A run of an agent; a known id continues that session. */
  async session(options: SessionBody = {}, call?: CallOptions): Promise<Session> {
    return new Session(this.#transport, await this.#post<SessionData>("/sessions", options, call));
  }

  // Finding

  /** Find what matters for a question, with a context ready for a prompt. */
  recall(query: string, options: RecallOptions = {}, call?: CallOptions): Promise<Recall> {
    return this.#post("/recall", { query, ...options }, call);
  }

  /** What an agent should know at its start: pinned memories, then the most important and newest others. */
  wakeUp(options: WakeUpBody = {}, call?: CallOptions): Promise<WakeUp> {
    return this.#post("/wake-up", options, call);
  }

  /** How an item of a recall got its place. */
  explain(query: string, id: string, options: Omit<ExplainBody, "query" | "id"> = {}, call?: CallOptions) {
    return this.#post<Explanation>("/explain", { query, id, ...options }, call);
  }

  /** Why a recall with these options does not return a memory: the stage that dropped it, and what was missing. */
  whyNot(query: string, id: string, options: Omit<ExplainBody, "query" | "id"> = {}, call?: CallOptions) {
    return this.#post<Absence>("/why-not", { query, id, ...options }, call);
  }

  // Looking

  /** One memory, or null; of several ids, a list in their order. */
  get(id: string, call?: CallOptions): Promise<Memory | null>;
  get(ids: readonly string[], call?: CallOptions): Promise<(Memory | null)[]>;
  async get(which: string | readonly string[], call?: CallOptions): Promise<Memory | null | (Memory | null)[]> {
    if (typeof which !== "string") {
      const found = await this.#post<FoundMemories>("/memories/get", { ids: which }, call);
      const known = new Map(found.items.map((one) => [one.id, one]));
      return which.map((id) => known.get(id) ?? null);
    }
    try {
      return await this.#transport.get<Memory>(memory(which), {}, call);
    } catch (error) {
      if (error instanceof MemoristError && error.problem === "not-found") return null;
      throw error;
    }
  }

  /** Memories in the order they were written; pass the `cursor` of a page to continue. */
  list(query: ListMemoriesQuery = {}, call?: CallOptions): Promise<Page> {
    return this.#transport.get("/memories", query, call);
  }

  /** Every memory that the filters admit, page by page. */
  async *all(query: ListMemoriesQuery = {}, call?: CallOptions): AsyncGenerator<Memory> {
    for (let cursor = query.cursor ?? null, more = true; more; more = cursor !== null) {
      const page: Page = await this.list({ ...query, cursor }, call);
      yield* page.items;
      cursor = page.cursor;
    }
  }

  /** The pinned memories, newest first: those at the head of every context. */
  pinned(query: PinnedQuery = {}, call?: CallOptions): Promise<Memory[]> {
    return this.#items("/pinned", query, call);
  }

  /** All versions of a memory, given its id, or of every fact about an entity; newest knowledge first. */
  history(name: string, call?: CallOptions): Promise<Memory[]> {
    return this.#items(`/entities/${encodeURIComponent(name)}/history`, {}, call);
  }

  /** The names that memories mention, most mentioned first. */
  entities(query: EntitiesQuery = {}, call?: CallOptions): Promise<EntitySummary[]> {
    return this.#items("/entities", query, call);
  }

  /** The names and relations reached from an entity, with the facts and memories that each rests on. */
  neighbours(entity: string, query: NeighboursQuery = {}, call?: CallOptions): Promise<Neighbourhood> {
    return this.#transport.get(`/entities/${encodeURIComponent(entity)}/neighbours`, query, call);
  }

  /** How much the space holds. */
  stats(call?: CallOptions): Promise<StoreStats> {
    return this.#transport.get("/stats", {}, call);
  }

  /** What was decided and changed, newest first. */
  journal(query: JournalQuery = {}, call?: CallOptions): Promise<Entry[]> {
    return this.#items("/journal", query, call);
  }

  /** Undo an entry of the journal, or a whole tidying or sleep, given its run. */
  undo(entry: string, call?: CallOptions): Promise<Entry> {
    return this.#post("/undo", { entry }, call);
  }

  #post<T>(path: string, body?: object, call?: CallOptions): Promise<T> {
    return this.#transport.send<T>("POST", path, body, call);
  }

  async #items<T>(path: string, query: Query, call?: CallOptions): Promise<T[]> {
    return (await this.#transport.get<Items<T>>(path, query, call)).items;
  }

  async #ingested(
    path: string,
    body: BodyInit,
    type: string,
    query: Query,
    onProgress: ((done: number) => void) | undefined,
    call: CallOptions = {},
  ): Promise<IngestReport> {
    for await (const [name, data] of this.#transport.events(path, body, type, query, { timeout: LONG, ...call })) {
      if (name === "done") return data as IngestReport;
      if (name === "problem") throw fromProblem(data) ?? unreadable();
      onProgress?.((data as { done: number }).done);
    }
    const remedy = "Ingest it again: it continues from there.";
    throw new MemoristError("unreachable", "The server closed the connection", remedy);
  }
}

/** A run of an agent: keeps its steps, and learns from them on commit. */
export class Session {
  readonly id: string;
  readonly goal: string | null;
  /** What gates decided about the goal. */
  readonly gates: GateDecision[];
  readonly #transport: Transport;

  constructor(transport: Transport, opened: SessionData) {
    this.#transport = transport;
    this.id = opened.id;
    this.goal = opened.goal;
    this.gates = opened.gates;
  }

  /** Keep an observation and the action that followed, verbatim. */
  step(observation: string, options: Omit<StepBody, "observation"> = {}, call?: CallOptions): Promise<Remembered> {
    return this.#transport.send("POST", this.#path("steps"), { observation, ...options }, call);
  }

  /** `recall`, with the session's goal and last three steps before the question. */
  recall(query: string, options: RecallOptions = {}, call?: CallOptions): Promise<Recall> {
    return this.#transport.send("POST", this.#path("recall"), { query, ...options }, call);
  }

  /** Learn from the steps so far and close the session; another step opens it again. */
  commit(call?: CallOptions): Promise<Commit> {
    return this.#transport.send("POST", this.#path("commit"), undefined, call);
  }

  /** Erase the steps that were not committed, and close the session; nothing is learnt from them. */
  discard(call?: CallOptions): Promise<Receipt> {
    return this.#transport.send("POST", this.#path("discard"), undefined, call);
  }

  #path(what: string): string {
    return `/sessions/${encodeURIComponent(this.id)}/${what}`;
  }
}

function memory(id: string, what?: string): string {
  return `/memories/${encodeURIComponent(id)}${what ? `/${what}` : ""}`;
}

/** The options of one batch of several: an idempotency key names one request. */
function numbered(call: CallOptions | undefined, start: number): CallOptions | undefined {
  return call?.idempotencyKey ? { ...call, idempotencyKey: `${call.idempotencyKey}-${start}` } : call;
}
