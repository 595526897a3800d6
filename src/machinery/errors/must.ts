/** A value that is there by what the code before has shown; `what` names it should that ever prove wrong. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what} is missing`);
  return value;
}
