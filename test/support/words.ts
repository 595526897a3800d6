/** A value in the template of a command line, never split. */
export type Word = string | number;

/**
 * Splits a command line without a shell: literal text at white space, `${values}` never.
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
