/**
 * Removes these characters from the end of a text. The expression /[…]+$/ takes quadratic time on texts with many of
 * them elsewhere, and texts come from clients.
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** full stops and white space at the end of sentences */
export const sentenceEnd = '. \t\r\n\f\v\u00a0';
