/** Flags, width and precision of a verb. */
export interface Flags {
  isMinus: boolean;
  isPlus: boolean;
  isSharp: boolean;
  isSpace: boolean;
  isZero: boolean;
  /** `%#v`: Go syntax */
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

/** Pads a text to the width. */
export function pad(text: string, flags: Flags): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - [...text].length;
  if (missing <= 0) return text;
  if (flags.isMinus) return text + ' '.repeat(missing);
  return (flags.isZero ? '0' : ' ').repeat(missing) + text;
}

/** Pads a number to the width. Zeros go after the sign. */
export function padNumber(text: string, flags: Flags, isZeroAllowed = true): string {
  if (flags.width === undefined) return text;
  if (!flags.isZero || flags.isMinus || !isZeroAllowed) return pad(text, { ...flags, isZero: false });
  const sign = /^[-+ ]/.test(text) ? text.charAt(0) : '';
  return sign + text.slice(sign.length).padStart(flags.width - sign.length, '0');
}
