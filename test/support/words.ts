/** What may stand in the template of a command line: kept as it is, never split. */
export type Word = string | number;

/**
 * A command line written as it is typed, without a shell: literal text is split at white space, `${values}` are not.
 *
 * @example words`label configmap ${name} note=${'two words'}` // ['label', 'configmap', name, 'note=two words']
 */
export function words(literals: TemplateStringsArray, ...values: readonly Word[]): string[] {
  const result: string[] = [];
  let current: string | undefined;
  for (const [index, literal] of literals.entries()) {
    for (const piece of literal.split(/(\s+)/)) {
      if (piece === '') continue;
      if (piece.trim() !== '') current = (current ?? '') + piece;
      else if (current !== undefined) {
        result.push(current);
        current = undefined;
      }
    }
    if (index < values.length) current = (current ?? '') + String(values[index]);
  }
  if (current !== undefined) result.push(current);
  return result;
}
