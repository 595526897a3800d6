import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Commands of a guide, as a reader copies them into a shell. */
export interface Step {
  readonly guide: string;
  /** the heading it is below */
  readonly section: string;
  readonly commands: string;
  /** why tests leave it out, from a comment before the block */
  readonly notRun: string | undefined;
}

const notRunPattern = /^<!-- not run: (.+) -->$/;

/** The `sh` blocks of a guide in order. */
export function stepsOf(guide: string): Step[] {
  const text = readFileSync(fileURLToPath(new URL(`../../../docs/guides/${guide}.md`, import.meta.url)), 'utf8');
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
