export interface Challenge {
  /** lower case: `bearer`, `basic` */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const maxHeader = 8_192;

/** Parses one or more challenges: `Bearer realm="https://auth.example.com/token",service="registry"`. */
export function readChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = [];
  let parameters: Map<string, string> | undefined;
  // Spaces around `=` are not matched, so that each part matches in only one way and backtracking is limited.
  const part = /([\w~!#$%&'*+.^`|-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/g;
  for (const [, name = '', quoted, plain] of header.slice(0, maxHeader).matchAll(part)) {
    const value = quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1');
    if (value === undefined) {
      parameters = new Map();
      challenges.push({ scheme: name.toLowerCase(), parameters });
    } else parameters?.set(name.toLowerCase(), value);
  }
  return challenges;
}
