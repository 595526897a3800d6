/** How a server wants to be told who asks. */
export interface Challenge {
  /** in lower case: `bearer`, `basic` */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const maxHeader = 8_192;

/** `Bearer realm="https://auth.example.com/token",service="registry"`, maybe several of them. */
export function readChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = [];
  let parameters: Map<string, string> | undefined;
  // Blanks around signs mean nothing; without them each part is found in one way only.
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
