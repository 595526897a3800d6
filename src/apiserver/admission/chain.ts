import type { AdmissionRequest, AdmissionStep } from './types.ts';

/** Runs admission steps in order. Stays synchronous when all steps do, so that plain writes pay no extra turns. */
export class AdmissionChain {
  readonly #steps: AdmissionStep[] = [];

  add(step: AdmissionStep): void {
    this.#steps.push(step);
  }

  mutate(request: AdmissionRequest): void | Promise<void> {
    return this.#run('mutate', request, 0);
  }

  validate(request: AdmissionRequest): void | Promise<void> {
    return this.#run('validate', request, 0);
  }

  #run(phase: 'mutate' | 'validate', request: AdmissionRequest, from: number): void | Promise<void> {
    for (let i = from; i < this.#steps.length; i++) {
      const step = this.#steps[i]!;
      if (!step[phase] || (step.appliesTo && !step.appliesTo(request))) continue;
      const pending = step[phase](request);
      if (pending) return pending.then(() => this.#run(phase, request, i + 1));
    }
  }
}
