import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { missingKubectl } from '../../support/kubectl.ts';
import { describeOutcome } from '../../support/process.ts';
import { stepsOf } from './guide.ts';
import { openReader, type Reader } from './reader.ts';

const missing = await missingKubectl();

const first = stepsOf('first-cluster-on-a-real-cloud');
const isEnd = ({ section }: { section: string }): boolean => section === 'Delete the cluster';
/** The second guide uses the cluster of the first, before it is deleted. */
const steps = [...first.filter((step) => !isEnd(step)), ...stepsOf('day-two'), ...first.filter(isEnd)];

// Runs the commands of the guides block by block in a shell, with the simulated cloud.
describe.skipIf(missing !== undefined)(`the guides${missing ? ` (${missing})` : ''}`, { timeout: 240_000 }, () => {
  let reader: Reader;
  beforeAll(async () => {
    reader = await openReader();
  });
  afterAll(() => reader?.stop());
  // Every step depends on the previous one, so after a failure the others are skipped.
  let failed = false;
  beforeEach((context) => context.skip(failed, 'an earlier step failed'));
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  for (const { guide, section, commands, notRun } of steps) {
    const name = `${guide}: ${section}: ${commands.split('\n')[0]}`;
    it.skipIf(notRun !== undefined)(notRun === undefined ? name : `${name} (not run: ${notRun})`, async () => {
      const outcome = await reader.run(commands);
      expect(outcome.code, describeOutcome(outcome)).toBe(0);
    });
  }

  it('leave nothing behind', async () => {
    const outcome = await reader.run('kubectl get clusters,machines,openstackservers,secrets --no-headers -o name');
    expect(outcome.stdout.split('\n').filter((line) => line !== '' && !line.includes('simulated-cloud'))).toEqual([]);
  });
});
