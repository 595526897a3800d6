import type { HookVariable } from '../../../api/index.ts';
import { asJson, jsonText, type StepBudget } from '../../../machinery/index.ts';

// Cost limit of all patches in one reconcile of a Cluster. A class may have a thousand patches and a topology two
// thousand workers, so a limit per rendering is not enough. Long work yields to others.

const forAny = 1_000_000;
const forEachTemplate = 100_000;
const most = 20_000_000;
/** cost of a patch per matching template, without its value templates */
const forEachMatch = 100;
const forEachOperation = 20;
const charactersPerStep = 64;
/** a few milliseconds of work */
const stepsInOneGo = 20_000;

export interface PatchAccount extends StepBudget {
  /** Charges a matching template with its variables. Throws if the limit is exceeded. */
  matched(globals: readonly HookVariable[]): void;
  /** Charges applied operations. Throws if the limit is exceeded. */
  changed(operations: number): void;
  /** Returns a promise to await after some work, so that other work can run. */
  pause(): Promise<void> | undefined;
}

export function createPatchAccount(templates: number): PatchAccount {
  const whole = Math.min(most, forAny + templates * forEachTemplate);
  const sizes = new WeakMap<readonly HookVariable[], number>();
  const sizeOf = (globals: readonly HookVariable[]): number => {
    const known = sizes.get(globals);
    if (known !== undefined) return known;
    const size = jsonText(asJson(globals)).length;
    sizes.set(globals, size);
    return size;
  };
  let leftAtPause = whole;
  const spend = (steps: number): void => {
    account.left -= steps;
    if (account.left < 0) {
      throw new Error(`all patches of the class together take more than ${whole} steps for ${templates} templates`);
    }
  };
  const account: PatchAccount = {
    left: whole,
    matched: (globals) => spend(forEachMatch + Math.ceil(sizeOf(globals) / charactersPerStep)),
    changed: (operations) => spend(operations * forEachOperation),
    pause() {
      if (leftAtPause - account.left < stepsInOneGo) return undefined;
      leftAtPause = account.left;
      return new Promise((resolve) => setImmediate(resolve));
    },
  };
  return account;
}
