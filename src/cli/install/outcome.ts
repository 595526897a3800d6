/** What applying an object came to. */
export type Outcome = 'created' | 'configured' | 'unchanged';

/** By the revisions before and after. */
export function outcomeOf(before: string | undefined, after: string | undefined): Outcome {
  if (before === undefined) return 'created';
  return before === after ? 'unchanged' : 'configured';
}
