/**
 * The text without any of these characters at its end. The expression for it, /[…]+$/, takes quadratic time on texts that
 * have many of them elsewhere, and texts come from clients.
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** the full stops and spaces that sentences end with */
export const sentenceEnd = '. \t\r\n\f\v\u00a0';
