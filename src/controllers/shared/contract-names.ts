const vowels = 'aeiou';

/** Plural of a kind as in CustomResourceDefinition names: lower case, English rules. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  if (word.endsWith('y') && !vowels.includes(word.at(-2) ?? 'a')) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}

/** Name of the CustomResourceDefinition of a kind. */
export function definitionName(group: string, kind: string): string {
  return `${pluralOf(kind)}.${group}`;
}
