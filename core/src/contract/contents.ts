import type { JsonObject } from './object.ts';
import { serviceKey, type ServiceKey } from './service-key.ts';

/**
 * Texts from outside that templates may read, by the key that they are asked for with. Part of what a render depends on, so it
 * never changes: what is new is another map.
 */
export type Contents = ReadonlyMap<string, string>;

export const NO_CONTENTS: Contents = new Map();

/** A content that a render asked for, whether there was one or not. */
export interface ContentRequest {
  readonly key: string;
  /** How to come by it: the business of whoever does. */
  readonly options: JsonObject;
  /** `snippet:line:column` of the expression that asked first. */
  readonly place: string;
}

/** How a template global reads contents. What it asks for is recorded with the render. */
export interface ContentReader {
  /**
   * The text as of this render's input; undefined while there is none.
   *
   * @throws Error when this render asked for the key before with other options; it names the other place.
   */
  read(key: string, options: JsonObject): string | undefined;
}

/** Thrown by a global: the render cannot do without a content that is not there yet. It waits, and no object is to blame. */
export class ContentMissing extends Error {
  override readonly name = 'ContentMissing';
}

/**
 * Brings contents in. At most one plugin provides it; the core alone decides what becomes accepted: only what a complete,
 * synchronous validation over the live store has passed.
 */
export interface ContentSource {
  /** What renders may read. The identical map until something is accepted. */
  accepted(): Contents;
  /** Newer contents that nobody has judged; what was refused is not among them. */
  pending(): Contents;
  /** All that renders ask for, each time it becomes something else. What is missing is no longer kept up to date. */
  want(requests: readonly ContentRequest[]): void;
  /** Resolves when an attempt to get each of these was made, whatever became of it; at once for what is not wanted. */
  attempted(keys: readonly string[], signal: AbortSignal): Promise<void>;
  /** Renders read these from now on. A content that came meanwhile stays pending. */
  accept(contents: Contents): void;
  /** What was accepted before stays; these texts are pending no more until `reconsider`, or until they change. */
  refuse(contents: Contents, reason: Error): void;
  /** The configuration is another one: what was refused is pending again. */
  reconsider(): void;
  /** Called when something becomes pending. Returns how to stop. */
  onPending(listener: () => void): () => void;
}
export const CONTENT_SOURCE: ServiceKey<ContentSource> = serviceKey('content-source');
