/** One text of several, as Go prints an aggregate of errors: one stands alone, more are listed in brackets. */
export function aggregateText(texts: readonly string[]): string {
  const [only] = texts;
  return only !== undefined && texts.length === 1 ? only : `[${texts.join(', ')}]`;
}
