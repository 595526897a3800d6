import { must } from '../../errors/must.ts';
import { classContains } from './char-class.ts';
import { type StepBudget, spend } from './match.ts';
import type { Program } from './program.ts';

/** A set of automaton positions that are reachable after the text so far. */
interface State {
  /** `char` instructions, and `assert` instructions that wait for the end of the text */
  readonly positions: readonly number[];
  /** a match has been found; the rest of the text does not matter */
  readonly matched: boolean;
  /** a match if the text ends here */
  readonly matchesAtEnd: boolean;
  /** next states by ASCII character, filled on demand */
  readonly next: (State | undefined)[];
}

const maxStates = 1_000;
/**
 * Limit for the positions of all cached states together. A state of a long pattern may hold as many positions as the
 * pattern has characters.
 */
const maxPositions = 200_000;

/**
 * Tests for a match anywhere in time linear in the text. States are built on demand and cached, so that typical text
 * costs one array read per character.
 */
export class StateCache {
  readonly #program: Program;
  readonly #states = new Map<string, State>();
  readonly #visited: Uint32Array;
  #generation = 0;
  #initial: State | undefined;
  #kept = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#visited = new Uint32Array(program.instructions.length);
  }

  test(text: string, budget?: StepBudget): boolean {
    this.#initial ??= this.#intern([this.#program.start], true, budget);
    let state = this.#initial;
    const { length } = text;
    spend(budget, 1);
    for (let i = 0; i < length; i++) {
      if (state.matched) return true;
      let code = text.charCodeAt(i);
      if (code < 128) {
        spend(budget, 1);
        state = state.next[code] ?? this.#advance(state, code, true, budget);
      } else {
        code = text.codePointAt(i) ?? 0;
        if (code > 0xffff) i++;
        state = this.#advance(state, code, false, budget);
      }
    }
    return state.matched || state.matchesAtEnd;
  }

  #advance(state: State, rune: number, keep: boolean, budget: StepBudget | undefined): State {
    const { instructions, start } = this.#program;
    const targets: number[] = [];
    spend(budget, state.positions.length + 1);
    for (const position of state.positions) {
      const instruction = must(instructions[position], 'instructions[position]');
      if (instruction.op === 'char' && classContains(instruction.set, rune)) targets.push(instruction.next);
    }
    // The search is not anchored: a match may start at every character.
    targets.push(start);
    const next = this.#intern(targets, false, budget);
    if (keep) state.next[rune] = next;
    return next;
  }

  #intern(targets: readonly number[], atStart: boolean, budget: StepBudget | undefined): State {
    const positions: number[] = [];
    const matched = this.#close(targets, atStart, false, positions, budget);
    positions.sort((a, b) => a - b);
    const key = `${atStart ? '^' : ''}${matched ? 'm' : ''}${positions.join(',')}`;
    const known = this.#states.get(key);
    if (known) return known;
    // Dropping the whole cache bounds memory for patterns with very many states.
    if (this.#states.size >= maxStates || this.#kept + positions.length > maxPositions) {
      this.#states.clear();
      this.#initial = undefined;
      this.#kept = 0;
    }
    this.#kept += positions.length;
    const state: State = {
      positions,
      matched,
      matchesAtEnd: matched || this.#close(positions, atStart, true, [], budget),
      next: new Array(128),
    };
    this.#states.set(key, state);
    return state;
  }

  /** Follows instructions that consume no character. Returns whether a match is reachable. */
  #close(
    targets: readonly number[],
    atStart: boolean,
    atEnd: boolean,
    positions: number[],
    budget: StepBudget | undefined,
  ): boolean {
    const { instructions } = this.#program;
    const generation = ++this.#generation;
    const stack = [...targets];
    let matched = false;
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (this.#visited[pc] === generation) continue;
      this.#visited[pc] = generation;
      spend(budget, 1);
      const instruction = must(instructions[pc], 'instructions[pc]');
      switch (instruction.op) {
        case 'match':
          matched = true;
          break;
        case 'split':
          stack.push(instruction.next, instruction.other);
          break;
        case 'save':
          stack.push(instruction.next);
          break;
        case 'assert':
          if (instruction.assertion === 'text-end' ? atEnd : atStart) stack.push(instruction.next);
          else if (instruction.assertion === 'text-end') positions.push(pc);
          break;
        case 'char':
          positions.push(pc);
      }
    }
    return matched;
  }
}
