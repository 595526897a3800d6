/** Joins texts as Go prints aggregated errors: a single one stands alone, several are listed in brackets. */
export function aggregateText(texts: readonly string[]): string {
  const [only] = texts;
  return only !== undefined && texts.length === 1 ? only : `[${texts.join(', ')}]`;
}
