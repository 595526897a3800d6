import type { CharacterTest } from './characters.ts';

/** A regular expression as a tree. */
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
      /** Infinity: as often as it fits */
      readonly max: number;
      readonly isLazy: boolean;
    };

/** A pattern that is wrong, or asks for more than a match in linear time can give. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternError';
  }
}
