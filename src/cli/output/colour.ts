import { printableLine } from '../../machinery/index.ts';

/** Names of what is coloured, not of colours: one place decides what they look like. */
export type Tone = 'good' | 'bad' | 'warning' | 'plain' | 'faint' | 'strong' | 'accent';

/** Text with a tone. */
export interface Span {
  text: string;
  tone: Tone;
}

const codes: Readonly<Record<Tone, string>> = {
  good: '32',
  bad: '31',
  warning: '33',
  plain: '',
  faint: '90',
  strong: '1',
  accent: '36',
};

/** Writes spans one after another, with escape codes only where colours are wanted. */
export function paint(spans: readonly Span[], { colour }: { colour: boolean }): string {
  let text = '';
  for (const span of spans) {
    const code = colour && span.text !== '' ? codes[span.tone] : '';
    text += code === '' ? span.text : `\u001b[${code}m${span.text}\u001b[0m`;
  }
  return text;
}

/** Whoever wrote the text, it is one line of plain characters. */
export function span(text: string, tone: Tone = 'plain'): Span {
  return { text: printableLine(text), tone };
}
