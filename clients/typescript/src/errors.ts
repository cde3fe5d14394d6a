import { PROBLEM, type ProblemName } from "./types.ts";

/** Names of problems that the client itself finds. */
export type ClientProblem = "unreachable" | "timeout" | "invalid-argument";

/** What a name of a problem can be; a newer server may know more. */
export type ErrorName = ProblemName | ClientProblem | (string & {});

/** A request that failed: what happened, and what to do about it. */
export class MemoristError extends Error {
  override readonly name = "MemoristError";

  constructor(
    /** The stable name of the problem, such as `not-found`. */
    readonly problem: ErrorName,
    /** What happened. */
    readonly detail: string,
    /** What to do about it. */
    readonly remedy: string,
    /** The status of the answer; 0 if there was none. */
    readonly status: number = 0,
    /** The id of the request in the log of the server. */
    readonly requestId: string | null = null,
    options?: ErrorOptions,
  ) {
    super(`${detail}. ${remedy}`, options);
  }
}

/** The error of a problem document; null if it is none of Memorist. */
export function fromProblem(data: unknown): MemoristError | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, detail, title, remedy, status, request_id } = data as Record<string, unknown>;
  if (typeof type !== "string" || !type.startsWith(PROBLEM)) return null;
  const words = (...values: unknown[]) => values.find((one) => typeof one === "string" && one !== "") as string;
  return new MemoristError(
    type.slice(PROBLEM.length),
    words(detail, title, "The server refused the request"),
    words(remedy, "See the log of the server."),
    typeof status === "number" ? status : 0,
    typeof request_id === "string" ? request_id : null,
  );
}

/** The error for an answer that no server of this version sends. */
export function unreadable(status = 0): MemoristError {
  const detail = "The answer is not one of Memorist, or of another version";
  return new MemoristError("unreachable", detail, "Check the address and any proxy.", status);
}
