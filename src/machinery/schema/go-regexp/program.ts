import { must } from '../../errors/must.ts';
import type { CharClass } from './char-class.ts';
import { type Assertion, type RegexpNode, RegexpSyntaxError } from './parse.ts';

/** An instruction of the automaton. Targets are indexes into the program. */
export type Instruction =
  | { op: 'char'; set: CharClass; next: number }
  /** `next` is preferred to `other` */
  | { op: 'split'; next: number; other: number }
  | { op: 'assert'; assertion: Assertion; next: number }
  | { op: 'save'; slot: number; next: number }
  | { op: 'match' };

export interface Program {
  instructions: Instruction[];
  start: number;
  /** number of capture groups, excluding the whole match */
  captures: number;
  /** uses assertions about adjacent characters, which the state cache does not support */
  needsContext: boolean;
}

const maxInstructions = 50_000;

/** Builds the automaton back to front, so that every target is known when it is needed. */
export function compileProgram(root: RegexpNode, pattern: string): Program {
  const instructions: Instruction[] = [{ op: 'match' }];
  let needsContext = false;
  let captures = 0;
  const captureIndex = new Map<RegexpNode, number>();

  const emit = (instruction: Instruction): number => {
    if (instructions.length >= maxInstructions) throw new RegexpSyntaxError('expression too large', pattern);
    return instructions.push(instruction) - 1;
  };
  const number = (node: RegexpNode): void => {
    if (node.kind === 'capture') captureIndex.set(node, ++captures);
    if (node.kind === 'capture' || node.kind === 'repeat') number(node.node);
    else if (node.kind === 'concat' || node.kind === 'alternate') for (const child of node.nodes) number(child);
  };
  const split = (preferred: number, other: number, { lazy }: { lazy: boolean }): number =>
    emit(lazy ? { op: 'split', next: other, other: preferred } : { op: 'split', next: preferred, other });

  const build = (node: RegexpNode, next: number): number => {
    switch (node.kind) {
      case 'empty':
        return next;
      case 'char':
        return emit({ op: 'char', set: node.set, next });
      case 'assert':
        if (node.assertion !== 'text-start' && node.assertion !== 'text-end') needsContext = true;
        return emit({ op: 'assert', assertion: node.assertion, next });
      case 'capture': {
        const slot = must(captureIndex.get(node), 'captureIndex.get(node)') * 2;
        return emit({ op: 'save', slot, next: build(node.node, emit({ op: 'save', slot: slot + 1, next })) });
      }
      case 'concat':
        return node.nodes.reduceRight((target, child) => build(child, target), next);
      case 'alternate': {
        const targets = node.nodes.map((child) => build(child, next));
        return targets.reduceRight((other, target) => split(target, other, { lazy: false }));
      }
      case 'repeat': {
        let target = next;
        if (node.max === Number.POSITIVE_INFINITY) {
          const loop = emit({ op: 'split', next: 0, other: 0 });
          const body = build(node.node, loop);
          instructions[loop] = node.lazy
            ? { op: 'split', next, other: body }
            : { op: 'split', next: body, other: next };
          target = loop;
        } else {
          for (let i = node.min; i < node.max; i++) target = split(build(node.node, target), next, { lazy: node.lazy });
        }
        for (let i = 0; i < node.min; i++) target = build(node.node, target);
        return target;
      }
    }
  };

  number(root);
  const start = build(root, 0);
  return { instructions, start, captures, needsContext };
}
