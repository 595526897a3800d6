const short: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};
const notPrintable = /[\p{C}\p{Zl}\p{Zp}\p{Zs}]/u;

/** Escapes a rune for a Go literal with the given quotes. */
export function escapeRune(rune: string, quote: string, isAsciiOnly = false): string {
  if (rune === quote) return `\\${quote}`;
  const known = short[rune];
  if (known !== undefined) return known;
  const code = rune.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return rune;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (!isAsciiOnly && !notPrintable.test(rune)) return rune;
  const hex = code.toString(16);
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

const plain = /^[ !#-[\]-~]*$/;

/** Formats a Go string literal, like `%q`. */
export function quoteGo(text: string, isAsciiOnly = false): string {
  if (plain.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const rune of text) quoted += escapeRune(rune, '"', isAsciiOnly);
  return `${quoted}"`;
}

/** Parses a Go literal with its quotes. Returns undefined if it is invalid. */
export function unquoteGo(literal: string): string | undefined {
  const quote = literal[0];
  const body = literal.slice(1, -1);
  if (quote === '`') return body.replaceAll('\r', '');
  if (!body.includes('\\')) return body;
  const bytes: Buffer[] = [];
  for (let i = 0; i < body.length; ) {
    const next = body.indexOf('\\', i);
    const end = next < 0 ? body.length : next;
    if (end > i) bytes.push(Buffer.from(body.slice(i, end)));
    if (next < 0) break;
    const sequence = /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y;
    sequence.lastIndex = next;
    const found = sequence.exec(body);
    if (!found) return undefined;
    const [, simple, byte, small, large, octal] = found;
    if (simple !== undefined) {
      if ((simple === "'" || simple === '"') && simple !== quote) return undefined;
      bytes.push(Buffer.from(simpleEscapes[simple] ?? simple));
    } else if (byte !== undefined || octal !== undefined) {
      const code = byte === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(byte, 16);
      if (code > 255) return undefined;
      bytes.push(Buffer.from([code]));
    } else {
      const code = Number.parseInt(small ?? large ?? '', 16);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
      bytes.push(Buffer.from(String.fromCodePoint(code)));
    }
    i = sequence.lastIndex;
  }
  return Buffer.concat(bytes).toString('utf8');
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
