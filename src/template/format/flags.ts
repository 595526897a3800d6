/** The flags, width and precision of one verb. */
export interface Flags {
  isMinus: boolean;
  isPlus: boolean;
  isSharp: boolean;
  isSpace: boolean;
  isZero: boolean;
  /** `%#v`: as Go writes the value in a program */
  isGoSyntax: boolean;
  width: number | undefined;
  precision: number | undefined;
}

export const noFlags = (): Flags => ({
  isMinus: false,
  isPlus: false,
  isSharp: false,
  isSpace: false,
  isZero: false,
  isGoSyntax: false,
  width: undefined,
  precision: undefined,
});

/** Fills a text up to the width. */
export function pad(text: string, flags: Flags): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - [...text].length;
  if (missing <= 0) return text;
  if (flags.isMinus) return text + ' '.repeat(missing);
  return (flags.isZero ? '0' : ' ').repeat(missing) + text;
}

/** Fills a number up to the width; zeros stand after its sign. */
export function padNumber(text: string, flags: Flags, isZeroAllowed = true): string {
  if (flags.width === undefined) return text;
  if (!flags.isZero || flags.isMinus || !isZeroAllowed) return pad(text, { ...flags, isZero: false });
  const sign = /^[-+ ]/.test(text) ? text.charAt(0) : '';
  return sign + text.slice(sign.length).padStart(flags.width - sign.length, '0');
}
