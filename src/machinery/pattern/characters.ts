/** Reports whether a UTF-16 code unit matches. */
export type CharacterTest = (code: number) => boolean;

const range =
  (first: string, last: string): CharacterTest =>
  (code) =>
    code >= first.charCodeAt(0) && code <= last.charCodeAt(0);

export const anyOf =
  (...tests: readonly CharacterTest[]): CharacterTest =>
  (code) =>
    tests.some((test) => test(code));

export const not =
  (test: CharacterTest): CharacterTest =>
  (code) =>
    !test(code);

export const oneOf = (characters: string): CharacterTest => {
  const codes = new Set([...characters].map((character) => character.charCodeAt(0)));
  return (code) => codes.has(code);
};

export const isDigit: CharacterTest = range('0', '9');
export const isWord: CharacterTest = anyOf(range('a', 'z'), range('A', 'Z'), isDigit, oneOf('_'));
export const isSpace: CharacterTest = oneOf(' \t\n\v\f\r\u00a0\ufeff\u2028\u2029');
export const isAny: CharacterTest = () => true;
export const isNoLineBreak: CharacterTest = not(oneOf('\n\r\u2028\u2029'));

/** `\d`, `\w`, `\s` and their negations; undefined for other escapes. */
export const classEscapes: Readonly<Record<string, CharacterTest | undefined>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};

/** `[:alpha:]` and other named classes within brackets. */
export const namedClasses: Readonly<Record<string, CharacterTest | undefined>> = {
  alpha: anyOf(range('a', 'z'), range('A', 'Z')),
  digit: isDigit,
  alnum: anyOf(range('a', 'z'), range('A', 'Z'), isDigit),
  upper: range('A', 'Z'),
  lower: range('a', 'z'),
  space: isSpace,
  blank: oneOf(' \t'),
  punct: anyOf(range('!', '/'), range(':', '@'), range('[', '`'), range('{', '~')),
  print: range(' ', '~'),
  graph: range('!', '~'),
  cntrl: anyOf((code) => code < 32, oneOf('\x7f')),
  xdigit: anyOf(isDigit, range('a', 'f'), range('A', 'F')),
};

/** Extends a test to both cases of a code unit. */
export function ignoringCase(test: CharacterTest): CharacterTest {
  return (code) => {
    if (test(code)) return true;
    const character = String.fromCharCode(code);
    const other = character.toLowerCase() === character ? character.toUpperCase() : character.toLowerCase();
    return other.length === 1 && test(other.charCodeAt(0));
  };
}
