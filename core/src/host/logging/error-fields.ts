/** What an error shows in a log: type, message, stack, the fields of its class, and what caused it. */
export function errorFields(error: Error): Record<string, unknown> {
  const { name, message, stack } = error;
  const own = Object.fromEntries(
    Object.entries(error).filter(([key]) => !['name', 'message', 'stack', 'cause', 'errors'].includes(key)),
  );
  return {
    type: name,
    message,
    ...own,
    ...(error instanceof AggregateError ? { errors: error.errors as unknown[] } : {}),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
    stack,
  };
}
