import type { CharacterTest } from './characters.ts';

/** Syntax tree of a regular expression. */
export type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'char'; readonly test: CharacterTest }
  | { readonly kind: 'assertion'; readonly at: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'group'; readonly index: number | undefined; readonly inner: Node }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly parts: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly inner: Node;
      readonly min: number;
      /** Infinity for no limit */
      readonly max: number;
      readonly isLazy: boolean;
    };

/** The pattern is invalid, or cannot be matched in linear time. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternError';
  }
}
