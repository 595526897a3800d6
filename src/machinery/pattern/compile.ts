import type { CharacterTest } from './characters.ts';
import { type Node, PatternError } from './syntax.ts';

/** An instruction of the matcher. A thread that splits prefers the first branch. */
export type Instruction =
  | { readonly op: 'char'; readonly test: CharacterTest }
  | { readonly op: 'assert'; readonly at: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'match' };

const maxInstructions = 20_000;

/** Compiles a pattern. Counted repetitions are unrolled, so the number of instructions bounds the cost. */
export function compile(root: Node): readonly Instruction[] {
  const program: Instruction[] = [];
  const add = <I extends Instruction>(instruction: I): I => {
    if (program.length >= maxInstructions) throw new PatternError('regular expression too big');
    program.push(instruction);
    return instruction;
  };

  const emit = (node: Node): void => {
    switch (node.kind) {
      case 'empty':
        return;
      case 'char':
        add({ op: 'char', test: node.test });
        return;
      case 'assertion':
        add({ op: 'assert', at: node.at });
        return;
      case 'group':
        if (node.index !== undefined) add({ op: 'save', slot: node.index * 2 });
        emit(node.inner);
        if (node.index !== undefined) add({ op: 'save', slot: node.index * 2 + 1 });
        return;
      case 'sequence':
        for (const part of node.parts) emit(part);
        return;
      case 'choice':
        emitChoice(node.parts);
        return;
      case 'repeat':
        emitRepeat(node);
    }
  };

  const emitChoice = (parts: readonly Node[]): void => {
    const ends: { to: number }[] = [];
    for (const [index, part] of parts.entries()) {
      if (index === parts.length - 1) emit(part);
      else {
        const split = add({ op: 'split', first: program.length + 1, second: 0 });
        emit(part);
        ends.push(add({ op: 'jump', to: 0 }));
        split.second = program.length;
      }
    }
    for (const end of ends) end.to = program.length;
  };

  const emitRepeat = ({ inner, min, max, isLazy }: Extract<Node, { kind: 'repeat' }>): void => {
    for (let i = 0; i < min; i++) emit(inner);
    const fork = (): { enter(): void; leave(): void } => {
      const split = add({ op: 'split', first: 0, second: 0 });
      const set = (which: 'enter' | 'leave') => (): void => {
        if ((which === 'enter') !== isLazy) split.first = program.length;
        else split.second = program.length;
      };
      return { enter: set('enter'), leave: set('leave') };
    };
    if (max === Number.POSITIVE_INFINITY) {
      const start = program.length;
      const loop = fork();
      loop.enter();
      emit(inner);
      add({ op: 'jump', to: start });
      loop.leave();
      return;
    }
    const forks: { leave(): void }[] = [];
    for (let i = min; i < max; i++) {
      const each = fork();
      each.enter();
      emit(inner);
      forks.push(each);
    }
    for (const each of forks) each.leave();
  };

  add({ op: 'save', slot: 0 });
  emit(root);
  add({ op: 'save', slot: 1 });
  add({ op: 'match' });
  return program;
}
