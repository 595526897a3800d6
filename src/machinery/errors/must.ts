/** Returns a value that is known to exist at this point. `what` names it in the error if it is missing. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what} is missing`);
  return value;
}
