import { must } from '../errors/must.ts';
import { isWord } from './characters.ts';
import { compile, type Instruction } from './compile.ts';
import { type PatternOptions, parsePattern } from './parse.ts';
import { PatternError } from './syntax.ts';

/** Position of a match and the texts of its groups. */
export interface PatternMatch {
  readonly index: number;
  readonly end: number;
  /** group 0 is the whole match */
  readonly groups: readonly (string | undefined)[];
}

/** Maximum steps of one search: a fraction of a second. Realistic patterns and texts need far fewer. */
const maxSteps = 5_000_000;

/**
 * A regular expression that runs in time proportional to pattern times text, so that untrusted patterns are safe. It
 * follows all alternatives in parallel. Results equal those of JavaScript (leftmost, first alternative). Backreferences
 * and lookaround are not supported. Throws PatternError.
 */
export class LinearPattern {
  readonly #program: readonly Instruction[];
  readonly #slots: number;

  constructor(source: string, options: PatternOptions = {}) {
    const { root, groups } = parsePattern(source, options);
    this.#program = compile(root);
    this.#slots = (groups + 1) * 2;
  }

  test(text: string): boolean {
    return this.exec(text) !== undefined;
  }

  /** Finds the first match at or after `from`. */
  exec(text: string, from = 0): PatternMatch | undefined {
    const slots = this.#search(text, from);
    if (!slots) return undefined;
    const groups: (string | undefined)[] = [];
    for (let slot = 0; slot < slots.length; slot += 2) {
      const [start = -1, end = -1] = [slots[slot], slots[slot + 1]];
      groups.push(start < 0 || end < 0 ? undefined : text.slice(start, end));
    }
    const [index = 0, end = 0] = slots;
    return { index, end, groups };
  }

  *all(text: string): Generator<PatternMatch> {
    for (let at = 0; at <= text.length; ) {
      const match = this.exec(text, at);
      if (!match) return;
      yield match;
      at = match.end > match.index ? match.end : match.end + 1;
    }
  }

  /** Replaces the first match or all matches. */
  replace(text: string, by: (match: PatternMatch) => string, matches: 'all' | 'first' = 'first'): string {
    let result = '';
    let at = 0;
    for (const match of this.all(text)) {
      result += text.slice(at, match.index) + by(match);
      at = match.end;
      if (matches !== 'all') break;
    }
    return result + text.slice(at);
  }

  #search(text: string, from: number): number[] | undefined {
    const program = this.#program;
    /** threads by instruction, in order of preference */
    let current: Thread[] = [];
    let next: Thread[] = [];
    const seen = new Int32Array(program.length).fill(-1);
    let found: number[] | undefined;
    let steps = 0;

    /**
     * Advances a thread to its next character instruction. Of two threads at the same instruction, the first is kept.
     */
    const follow = (into: Thread[], start: number, given: number[], at: number): void => {
      const stack: Thread[] = [{ at: start, slots: given }];
      for (let thread = stack.pop(); thread; thread = stack.pop()) {
        if (seen[thread.at] === at) continue;
        seen[thread.at] = at;
        steps++;
        const instruction = must(program[thread.at], 'program[thread.at]');
        switch (instruction.op) {
          case 'jump':
            stack.push({ at: instruction.to, slots: thread.slots });
            break;
          case 'split':
            stack.push({ at: instruction.second, slots: thread.slots }, { at: instruction.first, slots: thread.slots });
            break;
          case 'save': {
            const slots = thread.slots.slice();
            slots[instruction.slot] = at;
            steps += slots.length >> 3;
            stack.push({ at: thread.at + 1, slots });
            break;
          }
          case 'assert':
            if (holds(instruction.at, text, at)) stack.push({ at: thread.at + 1, slots: thread.slots });
            break;
          default:
            into.push(thread);
        }
      }
    };

    const none = new Array<number>(this.#slots).fill(-1);
    for (let at = from; at <= text.length; at++) {
      // A later start matters only while no earlier one matches.
      if (!found) follow(current, 0, none, at);
      if (current.length === 0) {
        if (found) break;
        continue;
      }
      const code = text.charCodeAt(at);
      for (const thread of current) {
        steps++;
        const instruction = must(program[thread.at], 'program[thread.at]');
        if (instruction.op === 'match') {
          found = thread.slots;
          break;
        }
        if (instruction.op === 'char' && at < text.length && instruction.test(code)) {
          follow(next, thread.at + 1, thread.slots, at + 1);
        }
      }
      if (steps > maxSteps) throw new PatternError('regular expression takes too long for this text');
      [current, next] = [next, current];
      next.length = 0;
    }
    return found;
  }
}

interface Thread {
  readonly at: number;
  readonly slots: number[];
}

function holds(what: 'start' | 'end' | 'boundary' | 'inside', text: string, at: number): boolean {
  if (what === 'start') return at === 0;
  if (what === 'end') return at === text.length;
  const isBefore = at > 0 && isWord(text.charCodeAt(at - 1));
  const isAfter = at < text.length && isWord(text.charCodeAt(at));
  return (isBefore !== isAfter) === (what === 'boundary');
}
