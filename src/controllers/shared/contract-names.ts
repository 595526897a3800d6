const vowels = 'aeiou';

/** The plural of a kind as the names of CustomResourceDefinitions have it: lower case, English. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  if (word.endsWith('y') && !vowels.includes(word.at(-2) ?? 'a')) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}

/** Name of the definition that must exist for a kind to be usable by reference. */
export function definitionName(group: string, kind: string): string {
  return `${pluralOf(kind)}.${group}`;
}
