import type { HookVariable } from '../../../api/index.ts';
import { asJson, jsonText, type StepBudget } from '../../../machinery/index.ts';

// A class may have a thousand patches and a topology two thousand workers: what each rendering may cost bounds nothing by itself.
// All patches of one look at one Cluster draw from one account, and others get their turn meanwhile.

const forAny = 1_000_000;
const forEachTemplate = 100_000;
const most = 20_000_000;
/** what a patch costs a template it applies to, besides its templates of values */
const forEachMatch = 100;
const forEachOperation = 20;
const charactersPerStep = 64;
/** some milliseconds */
const stepsInOneGo = 20_000;

export interface PatchAccount extends StepBudget {
  /** A patch applies to a template: its variables are put together. Throws when nothing is left. */
  matched(globals: readonly HookVariable[]): void;
  /** So many operations are applied to a template. Throws when nothing is left. */
  changed(operations: number): void;
  /** After some work: what to wait for, so that others have their turn. */
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
