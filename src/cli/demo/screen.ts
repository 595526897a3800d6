import type { CommandContext } from '../context.ts';
import { paint, span } from '../output/colour.ts';
import type { Stage } from './progress.ts';

/** Reports completed stages and, on a terminal, the current wait. */
export interface ProgressScreen {
  /** prints a permanent line */
  say(text: string, detail?: string): void;
  show(stages: readonly Stage[]): void;
  close(): void;
}

const clearLine = '\r\u001b[2K';

export function progressScreen({ stdout, clock, interactive, colour }: CommandContext): ProgressScreen {
  const begun = clock.now();
  const told = new Set<string>();
  let pending = '';
  const seconds = (): string => `${((clock.now() - begun) / 1000).toFixed(1).padStart(5)} s`;
  const clear = (): void => {
    if (pending !== '') stdout(clearLine);
    pending = '';
  };
  const say = (text: string, detail = ''): void => {
    clear();
    const spans = [span(seconds(), 'faint'), span('  '), span('✓', 'good'), span(` ${text}`)];
    if (detail !== '') spans.push(span(`  ${detail}`, 'faint'));
    stdout(`${paint(spans, { colour })}\n`);
  };
  return {
    say,
    show(stages) {
      for (const { title, done, detail } of stages) {
        if (!done || told.has(title)) continue;
        told.add(title);
        say(title, detail);
      }
      const next = stages.find(({ done }) => !done);
      if (!interactive) return;
      clear();
      if (!next) return;
      pending = paint([span(seconds(), 'faint'), span(`  … ${next.title}: ${next.detail}`, 'faint')], { colour });
      stdout(pending);
    },
    close: clear,
  };
}
