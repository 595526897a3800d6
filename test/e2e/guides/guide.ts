import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Commands of a guide for a shell. */
export interface Step {
  readonly guide: string;
  /** heading of the section */
  readonly section: string;
  readonly commands: string;
  /** reason why tests skip it, from a comment before the block */
  readonly notRun: string | undefined;
}

const notRunPattern = /^<!-- not run: (.+) -->$/;

const textOf = (guide: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../docs/guides/${guide}.md`, import.meta.url)), 'utf8');

/** Returns the first block of a language in a section. */
export function blockOf(guide: string, section: string, language: string): string {
  const [, below] = textOf(guide).split(`\n## ${section}\n`);
  const block = below && new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(below)?.[1];
  if (!block) throw new Error(`${guide} has no block of ${language} below "${section}"`);
  return block;
}

/** Returns the `sh` blocks of a guide in order. */
export function stepsOf(guide: string): Step[] {
  const text = textOf(guide);
  const steps: Step[] = [];
  let section = '';
  let notRun: string | undefined;
  let block: string[] | undefined;
  for (const line of text.split('\n')) {
    if (block === undefined) {
      if (line.startsWith('#')) section = line.replace(/^#+ /, '');
      else if (line === '```sh') block = [];
      else if (line !== '') notRun = notRunPattern.exec(line)?.[1];
    } else if (line === '```') {
      steps.push({ guide, section, commands: block.join('\n'), notRun });
      block = undefined;
      notRun = undefined;
    } else block.push(line);
  }
  return steps;
}
