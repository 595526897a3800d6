import {
  aggregateText,
  type CelAuthorizer,
  type CelBudget,
  type CelMap,
  type CelProgram,
  type CelValue,
  errorMessage,
  type JsonValue,
  must,
  untypedToCel,
} from '../../machinery/index.ts';
import type { Policy } from './policy.ts';

export interface PolicyInput {
  object: JsonValue;
  oldObject: JsonValue;
  request: JsonValue;
  namespaceObject: JsonValue;
  params: JsonValue;
  authorizer: CelAuthorizer;
}

export interface Violation {
  message: string;
  /** reason of the refusal; undefined for the default */
  reason: string | undefined;
}

/** Cost limit of kube-apiserver for all expressions of a policy. */
const policyBudget = 10_000_000;
const longestMessage = 5 * 1024;

/** Evaluates a policy. Depending on the failure policy, an evaluation error counts as a violation or is ignored. */
export function evaluatePolicy(policy: Policy, input: PolicyInput): Violation[] {
  const values: Record<string, CelValue> = {
    object: untypedToCel(input.object),
    oldObject: untypedToCel(input.oldObject),
    request: untypedToCel(input.request),
    namespaceObject: untypedToCel(input.namespaceObject),
    params: untypedToCel(input.params),
    authorizer: input.authorizer,
  };
  const failed = (message: string): Violation[] =>
    policy.failurePolicy === 'Ignore' ? [] : [{ message, reason: undefined }];
  const condition = matchConditions(policy, values);
  if (condition === 'skip') return [];
  if (condition !== 'ask') return failed(condition.error);

  const budget: CelBudget = { remaining: policyBudget };
  values['variables'] = new LazyVariables(policy, values, budget);
  return policy.validations.flatMap((validation, index) => {
    const programs = must(policy.compiled.validations[index], 'policy.compiled.validations[index]');
    try {
      if (programs.condition.run(values, budget) === true) return [];
    } catch (error) {
      return failed(failure(programs.condition, error));
    }
    const message =
      composedMessage(programs.message, values, budget) ||
      validation.message ||
      `failed expression: ${validation.expression}`;
    return [{ message, reason: validation.reason ?? 'Invalid' }];
  });
}

/** One false condition wins over failing ones. */
function matchConditions(policy: Policy, values: Record<string, CelValue>): 'ask' | 'skip' | { error: string } {
  const budget: CelBudget = { remaining: policyBudget / 4 };
  const errors: string[] = [];
  for (const program of policy.compiled.matchConditions) {
    try {
      if (program.run(values, budget) !== true) return 'skip';
    } catch (error) {
      errors.push(failure(program, error));
    }
  }
  if (errors.length === 0) return 'ask';
  return { error: aggregateText(errors) };
}

/** A failing, empty or multi-line message counts as no message. */
function composedMessage(program: CelProgram | undefined, values: Record<string, CelValue>, budget: CelBudget): string {
  if (!program) return '';
  try {
    const message = program.run(values, budget);
    const text = typeof message === 'string' ? message.trim() : '';
    return Buffer.byteLength(text) > longestMessage || text.includes('\n') ? '' : text;
  } catch {
    return '';
  }
}

function failure({ source }: CelProgram, error: unknown): string {
  return `expression '${source}' resulted in error: ${errorMessage(error)}`;
}

/** `variables`: each variable is evaluated once, on first access. */
class LazyVariables implements CelMap {
  readonly isMap = true;
  readonly #programs: ReadonlyMap<string, CelProgram>;
  readonly #values: Readonly<Record<string, CelValue>>;
  readonly #budget: CelBudget;
  readonly #known = new Map<string, CelValue>();

  constructor(policy: Policy, values: Readonly<Record<string, CelValue>>, budget: CelBudget) {
    this.#programs = new Map(policy.compiled.variables.map(({ name, program }) => [name, program]));
    this.#values = values;
    this.#budget = budget;
  }

  get size(): number {
    return this.#programs.size;
  }

  keys(): CelValue[] {
    return [...this.#programs.keys()];
  }

  get(key: CelValue): CelValue | undefined {
    const name = key as string;
    const program = this.#programs.get(name);
    if (!program) return undefined;
    let value = this.#known.get(name);
    if (value === undefined) {
      try {
        value = program.run({ ...this.#values, variables: this }, this.#budget);
      } catch (error) {
        throw new Error(`composited variable ${JSON.stringify(name)} fails to evaluate: ${errorMessage(error)}`);
      }
      this.#known.set(name, value);
    }
    return value;
  }
}
