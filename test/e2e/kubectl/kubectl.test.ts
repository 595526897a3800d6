import { afterAll, beforeAll, describe, it } from 'vitest';
import { missingKubectl } from '../../support/kubectl.ts';
import { openSandbox } from '../../support/sandbox.ts';
import { type Target, targets } from '../../support/targets.ts';
import { accessExpectations } from './access.ts';
import { applyingExpectations } from './applying.ts';
import { badInputExpectations } from './bad-input.ts';
import { certificateExpectations } from './certificates.ts';
import { changingExpectations } from './changing.ts';
import { creatingExpectations } from './creating.ts';
import { customResourceExpectations } from './custom-resources.ts';
import { deletingExpectations } from './deleting.ts';
import { discoveryExpectations } from './discovery.ts';
import type { Expectation, Expectations } from './expectation.ts';
import { limitExpectations } from './limits.ts';
import { podExpectations } from './pods.ts';
import { policyExpectations } from './policies.ts';
import { readingExpectations } from './reading.ts';
import { waitingExpectations } from './waiting.ts';

const areas: readonly [string, Expectations][] = [
  ['discovery', discoveryExpectations],
  ['reading', readingExpectations],
  ['creating', creatingExpectations],
  ['changing', changingExpectations],
  ['applying', applyingExpectations],
  ['waiting', waitingExpectations],
  ['deleting', deletingExpectations],
  ['access', accessExpectations],
  ['certificates', certificateExpectations],
  ['limits', limitExpectations],
  ['pods', podExpectations],
  ['policies', policyExpectations],
  ['custom resources', customResourceExpectations],
  ['bad input', badInputExpectations],
];

const missing = await missingKubectl();

describe.skipIf(missing !== undefined)(missing === undefined ? 'kubectl' : `kubectl (${missing})`, () => {
  const choices = targets().map(({ name, start }) => [name, start] as const);
  describe.each(choices)('against %s', (_name, start) => {
    let target: Target | undefined;
    beforeAll(async () => {
      target = await start();
    });
    afterAll(async () => {
      await target?.stop();
    });

    describe.concurrent.each(areas)('%s', (_area, expectations) => {
      const expectation: Expectation = (behaviour, check) =>
        it(behaviour, async () => {
          const sandbox = await openSandbox(target!);
          try {
            await check(sandbox);
          } finally {
            await sandbox.close();
          }
        });
      expectations(expectation);
    });
  });
});
