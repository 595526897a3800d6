// Conversions between naming styles, such as camel case and snake case.

const isConnector = (rune: string): boolean => rune === '-' || rune === '_' || /\s/u.test(rune);
const isUpper = (rune: string): boolean => /\p{Lu}/u.test(rune);
const isLetter = (rune: string): boolean => /\p{L}/u.test(rune);

/** Converts `http_server` to `HttpServer`. */
export function pascalCase(value: string): string {
  const runes = [...value];
  let result = '';
  let at = 0;
  for (; isConnector(runes[at] ?? ''); at++) result += runes[at];
  let isNewWord = true;
  let isUpperWord = false;
  let connectors = '';
  for (const rune of runes.slice(at)) {
    if (isConnector(rune)) {
      connectors += rune;
      isNewWord = true;
      continue;
    }
    if (isNewWord) {
      // All connectors between words but the last are kept.
      result += connectors.slice(0, -1);
      connectors = '';
      isUpperWord = isUpper(rune);
      result += rune.toUpperCase();
      isNewWord = false;
    } else if (isUpperWord && isUpper(rune)) result += rune.toLowerCase();
    else {
      isUpperWord = false;
      result += rune;
    }
  }
  return result + connectors;
}

type WordType = 'none' | 'number' | 'upper' | 'letters' | 'connector' | 'punctuation' | 'other';

const isLetters = (type: WordType): boolean => type === 'letters';
const isWord = (type: WordType): boolean => type === 'letters' || type === 'number';

function nextWord(runes: readonly string[], from: number): { type: WordType; end: number } {
  const first = runes[from];
  if (first === undefined) return { type: 'none', end: from };
  const run = (start: number, fits: (rune: string) => boolean): number => {
    let end = start;
    while (end < runes.length && fits(runes[end] ?? '')) end++;
    return end;
  };
  if (isConnector(first)) return { type: 'connector', end: run(from, isConnector) };
  if (/\p{P}/u.test(first)) return { type: 'punctuation', end: run(from, (rune) => /\p{P}/u.test(rune)) };
  const isSmall = (rune: string): boolean => isLetter(rune) && !isUpper(rune);
  if (isUpper(first)) {
    const second = runes[from + 1];
    if (second === undefined) return { type: 'upper', end: from + 1 };
    if (isUpper(second)) {
      const end = run(from + 1, isUpper);
      // The last capital of `HTTPStatus` begins the next word.
      return { type: 'upper', end: isLetter(runes[end] ?? '') ? end - 1 : end };
    }
    return { type: 'upper', end: isLetter(second) ? run(from + 1, isSmall) : from + 1 };
  }
  if (isLetter(first)) return { type: 'letters', end: run(from, isSmall) };
  if (/\p{N}/u.test(first)) return { type: 'number', end: run(from, (rune) => /\p{N}/u.test(rune)) };
  return { type: 'other', end: run(from + 1, (rune) => !isConnector(rune) && !/[\p{L}\p{N}\p{P}]/u.test(rune)) };
}

/** Converts `HTTPServer` to `http_server`, with the given connector. */
export function lowerWords(value: string, connector: string): string {
  const runes = [...value];
  let result = '';
  let from = 0;
  let { type, end } = nextWord(runes, 0);
  const text = (): string => runes.slice(from, end).join('');
  const write = (wordType: WordType, word: string): void => {
    if (wordType === 'upper') result += word.toLowerCase();
    else if (wordType === 'connector') result += [...word].map(() => connector).join('');
    else result += word;
  };
  const advance = (): void => {
    from = end;
    ({ type, end } = nextWord(runes, from));
  };
  while (end < runes.length) {
    if (type !== 'connector') write(type, text());
    const [previous, last] = [type, text()];
    advance();
    const isJoint = (): boolean => type !== 'none' && type !== 'punctuation' && type !== 'connector';
    if (previous === 'number') {
      while (isWord(type)) {
        write(type, text());
        advance();
      }
      if (isJoint()) result += connector;
    } else if (previous === 'connector') write(previous, last);
    else if (previous !== 'punctuation') {
      if (type !== 'number') {
        if (isJoint()) result += connector;
      } else if (end < runes.length) {
        const number = text();
        advance();
        if (!isLetters(type)) {
          write('number', number);
          if (isJoint()) result += connector;
        } else {
          // Lower-case letters after a number belong to it: `http2xx` becomes `http_2xx`.
          result += connector;
          write('number', number);
          while (isWord(type)) {
            write(type, text());
            advance();
          }
          if (isJoint()) result += connector;
        }
      }
    }
  }
  write(type, text());
  return result;
}
