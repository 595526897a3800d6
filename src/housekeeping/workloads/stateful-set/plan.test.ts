import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod, StatefulSet, StatefulSetSpec } from '../../../api/index.ts';
import { revisionHashLabel } from '../common/names.ts';
import { isPodReady } from '../common/pods.ts';
import { planMembers } from './plan.ts';

const now = Date.UTC(2026, 0, 1);
const revisions = { current: 'r1', update: 'r2' };

const setOf = (spec: StatefulSetSpec): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 's' },
  spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }, ...spec },
});

const podOf = (ordinal: number, revision: string, isReady: boolean, waiting?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `s-${ordinal}`, labels: { [revisionHashLabel]: revision } },
  spec: { containers: [{ name: 'c' }] },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    ...(waiting !== undefined && {
      containerStatuses: [{ name: 'c', ready: false, restartCount: 1, state: { waiting: { reason: waiting } } }],
    }),
  },
});

const namesOf = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name!);

describe('the next step of a StatefulSet', () => {
  it('makes the first missing Pod', () => {
    const plan = planMembers(setOf({ replicas: 3 }), [podOf(0, 'r2', true), podOf(2, 'r2', true)], revisions, now);
    expect(plan.create).toEqual([{ ordinal: 1, revision: 'r2' }]);
  });

  it('waits for a Pod that is not ready, unless it is outdated and hopeless', () => {
    const set = setOf({ replicas: 2 });
    expect(planMembers(set, [podOf(0, 'r1', false), podOf(1, 'r1', true)], revisions, now).remove).toEqual([]);
    const hopeless = [podOf(0, 'r1', false, 'CrashLoopBackOff'), podOf(1, 'r1', true)];
    expect(namesOf(planMembers(set, hopeless, revisions, now).remove)).toEqual(['s-0']);
    const current = [podOf(0, 'r2', false, 'CrashLoopBackOff'), podOf(1, 'r1', true)];
    expect(planMembers(set, current, revisions, now).remove).toEqual([]);
  });

  it('takes down as many Pods at once as may be unavailable', () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
    const pods = [0, 1, 2, 3].map((ordinal) => podOf(ordinal, 'r1', true));
    expect(namesOf(planMembers(setOf({ replicas: 4, updateStrategy }), pods, revisions, now).remove)).toEqual([
      's-3',
      's-2',
    ]);
  });

  it('never takes a serving Pod while another does not serve, and ends with all updated', () => {
    const member = fc.record({ isUpdated: fc.boolean(), isReady: fc.boolean() });
    const policy = fc.constantFrom('OrderedReady', 'Parallel');
    fc.assert(
      fc.property(
        fc.array(member, { minLength: 1, maxLength: 5 }),
        policy,
        fc.nat(4),
        (members, podManagementPolicy, partition) => {
          const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition } };
          const set = setOf({ replicas: members.length, podManagementPolicy, updateStrategy });
          const pods = new Map(
            members.map(({ isUpdated, isReady }, ordinal) => [
              ordinal,
              podOf(ordinal, isUpdated ? 'r2' : 'r1', isReady),
            ]),
          );
          for (let step = 0; step < 60; step++) {
            const present = [...pods.values()];
            const ready = present.filter(isPodReady).length;
            const plan = planMembers(set, present, revisions, now);
            const serving = plan.remove.filter(isPodReady);
            expect(serving.length).toBeLessThanOrEqual(Math.max(0, 1 - (members.length - ready)));
            for (const pod of plan.remove) pods.delete(Number(pod.metadata.name!.slice(2)));
            for (const { ordinal, revision } of plan.create) pods.set(ordinal, podOf(ordinal, revision, false));
            // One more Pod becomes ready with every step.
            const waiting = [...pods].find(([, pod]) => !isPodReady(pod));
            if (waiting && plan.create.length === 0) {
              const [ordinal, pod] = waiting;
              pods.set(ordinal, podOf(ordinal, pod.metadata.labels![revisionHashLabel]!, true));
            }
          }
          const desired = members.map(({ isUpdated }, ordinal) => (isUpdated || ordinal >= partition ? 'r2' : 'r1'));
          const reached = [...pods].sort(([a], [b]) => a - b).map(([, pod]) => pod.metadata.labels![revisionHashLabel]);
          expect(reached).toEqual(desired);
          expect([...pods.values()].every(isPodReady)).toBe(true);
        },
      ),
      { numRuns: 80 },
    );
  });
});
