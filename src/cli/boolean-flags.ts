import type { Command } from 'commander';

/**
 * Supports `--grouping=false`, which Go programs accept. Translates such arguments to `--grouping` or `--no-grouping`,
 * or drops them if they equal the default.
 */
export function spellOutBooleans(argv: readonly string[], program: Command): string[] {
  const { plain, negated } = booleanFlags(program);
  const words: string[] = [];
  for (const [index, word] of argv.entries()) {
    if (word === '--') return [...words, ...argv.slice(index)];
    const match = /^--([a-z][a-z0-9-]*)=(true|false)$/.exec(word);
    const name = match?.[1] ?? '';
    if (!match || !(plain.has(name) || negated.has(name))) words.push(word);
    else if (match[2] === 'true' && plain.has(name)) words.push(`--${name}`);
    else if (match[2] === 'false' && negated.has(name)) words.push(`--no-${name}`);
  }
  return words;
}

function booleanFlags(program: Command): { plain: Set<string>; negated: Set<string> } {
  const plain = new Set<string>();
  const negated = new Set<string>();
  const visit = (command: Command): void => {
    for (const { long, negate, required, optional } of command.options) {
      if (long === undefined || required || optional) continue;
      if (negate) negated.add(long.slice('--no-'.length));
      else plain.add(long.slice('--'.length));
    }
    for (const child of command.commands) visit(child);
  };
  visit(program);
  return { plain, negated };
}
