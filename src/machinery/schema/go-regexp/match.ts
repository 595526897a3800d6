import { must } from '../../errors/must.ts';
import { classContains, isWordRune } from './char-class.ts';
import type { Assertion } from './parse.ts';
import type { Program } from './program.ts';

/** [start, end, group 1 start, group 1 end, …]; undefined for groups that did not participate */
export type Match = (number | undefined)[];

/** Remaining matcher steps, shared by all matches that receive the same budget. */
export interface StepBudget {
  left: number;
}

/** Pattern and text together need more steps than the caller allows. */
export class RegexpBudgetExceeded extends Error {
  constructor() {
    super('matching the regular expression takes too many steps');
    this.name = 'RegexpBudgetExceeded';
  }
}

export function spend(budget: StepBudget | undefined, steps: number): void {
  if (budget === undefined) return;
  budget.left -= steps;
  if (budget.left < 0) throw new RegexpBudgetExceeded();
}

interface Thread {
  pc: number;
  slots: Match;
}

/**
 * Finds the leftmost match at or after `from`. Follows all alternatives in parallel, so the time is linear in the text.
 * Returns string offsets; undefined without a match.
 */
export function findMatch(program: Program, text: string, from: number, budget?: StepBudget): Match | undefined {
  const { instructions } = program;
  let current: Thread[] = [];
  let best: Match | undefined;
  const visited = new Uint32Array(instructions.length);
  let generation = 0;

  const follow = (threads: Thread[], pc: number, slots: Match, at: number): void => {
    // An explicit stack, because a long pattern would exhaust the call stack. The preferred branch is followed first.
    const stack: Thread[] = [{ pc, slots }];
    for (let thread = stack.pop(); thread; thread = stack.pop()) {
      if (visited[thread.pc] === generation) continue;
      visited[thread.pc] = generation;
      spend(budget, 1);
      const instruction = must(instructions[thread.pc], 'instructions[thread.pc]');
      switch (instruction.op) {
        case 'split':
          stack.push({ pc: instruction.other, slots: thread.slots }, { pc: instruction.next, slots: thread.slots });
          break;
        case 'save': {
          const saved = thread.slots.slice();
          spend(budget, saved.length);
          saved[instruction.slot] = at;
          stack.push({ pc: instruction.next, slots: saved });
          break;
        }
        case 'assert':
          if (holds(instruction.assertion, text, at)) stack.push({ pc: instruction.next, slots: thread.slots });
          break;
        default:
          threads.push(thread);
      }
    }
  };

  for (let at = from; ; ) {
    generation++;
    const threads: Thread[] = [];
    for (const thread of current) follow(threads, thread.pc, thread.slots, at);
    if (!best) follow(threads, program.start, [at], at);
    current = [];
    const rune = at < text.length ? (text.codePointAt(at) ?? 0) : -1;
    for (const thread of threads) {
      const instruction = must(instructions[thread.pc], 'instructions[thread.pc]');
      if (instruction.op === 'match') {
        best = thread.slots.slice();
        best[1] = at;
        // The remaining threads have lower priority.
        break;
      }
      if (instruction.op === 'char' && rune >= 0 && classContains(instruction.set, rune))
        current.push({ pc: instruction.next, slots: thread.slots });
    }
    if (rune < 0 || (best && current.length === 0)) return best;
    at += rune > 0xffff ? 2 : 1;
  }
}

function holds(assertion: Assertion, text: string, at: number): boolean {
  switch (assertion) {
    case 'text-start':
      return at === 0;
    case 'text-end':
      return at === text.length;
    case 'line-start':
      return at === 0 || text.charCodeAt(at - 1) === 10;
    case 'line-end':
      return at === text.length || text.charCodeAt(at) === 10;
    default: {
      const before = at > 0 && isWordRune(text.charCodeAt(at - 1));
      const after = at < text.length && isWordRune(text.charCodeAt(at));
      return (before !== after) === (assertion === 'word-boundary');
    }
  }
}
