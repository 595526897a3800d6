import { afterAll, beforeAll, describe } from 'vitest';
import type { TestServerOptions } from './server.ts';
import type { Target, TargetChoice } from './targets.ts';

/** Runs the same tests against every target; `on()` returns the current one. */
export function onTargets(
  choices: readonly TargetChoice[],
  rules: (on: () => Target, choice: TargetChoice) => void,
  options?: TestServerOptions,
): void {
  describe.each(choices)('$name', (choice) => {
    let target: Target | undefined;
    beforeAll(async () => {
      target = await choice.start(options);
    });
    afterAll(() => target?.stop());
    rules(() => target!, choice);
  });
}
