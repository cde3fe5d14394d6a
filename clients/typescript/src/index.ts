export {
  type FeedbackVerdict,
  type IngestFormat,
  type IngestOptions,
  type JudgedRecall,
  Memorist,
  type RecallOptions,
  type RelateOptions,
  type RememberOptions,
  Session,
} from "./client.ts";
export { type ErrorName, MemoristError } from "./errors.ts";
export type { CallOptions, Options } from "./transport.ts";
export type * from "./types.ts";
