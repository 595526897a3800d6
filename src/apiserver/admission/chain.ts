import type { RegisteredResource } from '../registry/index.ts';
import type { AdmissionOperation, AdmissionRequest, AdmissionStep } from './types.ts';

type Phase = 'mutate' | 'validate';

/** The admission steps that apply to writes of one kind. */
type Plan = Readonly<Record<AdmissionOperation, Readonly<Record<Phase, readonly AdmissionStep[]>>>>;

/**
 * Runs admission steps in order. It stays synchronous when all steps do, so that plain writes need no extra turns of
 * the event loop.
 */
export class AdmissionChain {
  readonly #steps: AdmissionStep[] = [];
  /** built on the first write of a kind */
  #plans = new WeakMap<RegisteredResource, Plan>();

  add(step: AdmissionStep): void {
    this.#steps.push(step);
    this.#plans = new WeakMap();
  }

  mutate(request: AdmissionRequest): void | Promise<void> {
    return run('mutate', this.#planFor(request).mutate, request, 0);
  }

  validate(request: AdmissionRequest): void | Promise<void> {
    return run('validate', this.#planFor(request).validate, request, 0);
  }

  #planFor({ target: { resource }, operation }: AdmissionRequest): Plan[AdmissionOperation] {
    let plan = this.#plans.get(resource);
    if (!plan) {
      plan = planFor(this.#steps, resource);
      this.#plans.set(resource, plan);
    }
    return plan[operation];
  }
}

function planFor(steps: readonly AdmissionStep[], { definition }: RegisteredResource): Plan {
  const concerned = steps.filter((step) => step.concerns?.(definition) ?? true);
  const forOperation = (operation: AdmissionOperation): Plan[AdmissionOperation] => {
    const taking = concerned.filter((step) => step.operations?.includes(operation) ?? true);
    return { mutate: taking.filter(({ mutate }) => mutate), validate: taking.filter(({ validate }) => validate) };
  };
  return {
    CREATE: forOperation('CREATE'),
    UPDATE: forOperation('UPDATE'),
    DELETE: forOperation('DELETE'),
    CONNECT: forOperation('CONNECT'),
  };
}

function run(
  phase: Phase,
  steps: readonly AdmissionStep[],
  request: AdmissionRequest,
  from: number,
): void | Promise<void> {
  for (let i = from; i < steps.length; i++) {
    const step = steps[i];
    if (!step || (step.appliesTo && !step.appliesTo(request))) continue;
    const pending = step[phase]?.(request);
    if (pending) return pending.then(() => run(phase, steps, request, i + 1));
  }
}
