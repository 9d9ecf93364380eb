/** Freezes plain data in place, all the way down. What a plugin's schema made of other classes stays as it is. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze<unknown>(member);
  return value;
}
