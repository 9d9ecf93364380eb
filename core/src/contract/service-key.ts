/** A named service: one plugin provides it, others use it, nobody imports anybody. */
export interface ServiceKey<T> {
  readonly name: string;
  /** Phantom: carries the type only. */
  readonly _type?: T;
}

/** Two keys of one name are one service, so a plugin may bring its own copy of a key. */
export function serviceKey<T>(name: string): ServiceKey<T> {
  return Object.freeze({ name });
}
