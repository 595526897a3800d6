/** Location options, which every verb accepts. */
const withValue = new Set(['-n', '--namespace', '--kubeconfig', '--context']);

/** Moves location options behind the verb, so that `capstan -n team get …` works like in kubectl. */
export function optionsBehindVerb(argv: readonly string[]): string[] {
  let verb = 0;
  while (verb < argv.length) {
    const word = argv[verb] ?? '';
    if (withValue.has(word)) verb += 2;
    else if (word.startsWith('--') && withValue.has(word.split('=')[0] ?? '')) verb += 1;
    else break;
  }
  // Without a verb the program itself reports the error.
  if (verb === 0 || verb >= argv.length) return [...argv];
  const end = argv.indexOf('--');
  const last = end < 0 ? argv.length : end;
  return [...argv.slice(verb, last), ...argv.slice(0, verb), ...argv.slice(last)];
}
