/** Options that say where, which every verb takes behind itself. */
const withValue = new Set(['-n', '--namespace', '--kubeconfig', '--context']);

/**
 * People write `kubectl -n team get …`, and so they write `capstan -n team get …`: options that say where may stand before
 * the verb as well.
 */
export function optionsBehindVerb(argv: readonly string[]): string[] {
  let verb = 0;
  while (verb < argv.length) {
    const word = argv[verb] ?? '';
    if (withValue.has(word)) verb += 2;
    else if (word.startsWith('--') && withValue.has(word.split('=')[0] ?? '')) verb += 1;
    else break;
  }
  // without a verb nothing can be behind it, and the program says so
  if (verb === 0 || verb >= argv.length) return [...argv];
  const end = argv.indexOf('--');
  const last = end < 0 ? argv.length : end;
  return [...argv.slice(verb, last), ...argv.slice(0, verb), ...argv.slice(last)];
}
