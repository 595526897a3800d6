import { printableLine } from '../../machinery/index.ts';

/** Semantic tones; the colors are defined in one place. */
export type Tone = 'good' | 'bad' | 'warning' | 'plain' | 'faint' | 'strong' | 'accent';

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

/** Joins spans, with escape codes if colors are enabled. */
export function paint(spans: readonly Span[], { colour }: { colour: boolean }): string {
  let text = '';
  for (const span of spans) {
    const code = colour && span.text !== '' ? codes[span.tone] : '';
    text += code === '' ? span.text : `\u001b[${code}m${span.text}\u001b[0m`;
  }
  return text;
}

/** Makes any text a single line without control characters. */
export function span(text: string, tone: Tone = 'plain'): Span {
  return { text: printableLine(text), tone };
}
