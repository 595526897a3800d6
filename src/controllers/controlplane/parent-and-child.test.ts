import { describe, expect, it } from 'vitest';
import { type K0smotronCluster, K0smotronClusters, K0smotronControlPlanes } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import type { ObjectEvent, Watch } from '../../runtime/index.ts';
import { childWatches } from '../shared/index.ts';
import { parentChanged } from './parent-and-child.ts';

const object = (status: object, generation = 1): KubeObject & { status: object } => ({
  apiVersion: 'x/v1',
  kind: 'X',
  metadata: { name: 'x', generation },
  status,
});
const update = (old: KubeObject, next: KubeObject): ObjectEvent => ({ type: 'update', old, object: next });

describe('a parent wakes its child', () => {
  const initialized = { initialization: { controlPlaneInitialized: true } };
  it.each<[string, boolean, ObjectEvent]>([
    ['when that comes', true, { type: 'add', object: object({}), initial: false }],
    ['when its spec changes', true, update(object({}), object({}, 2))],
    ['when it is initialized', true, update(object({}), object(initialized))],
    ['not when it shows how its child is', false, update(object({ replicas: 1 }), object({ replicas: 2 }))],
  ])('%s', (_, expected, event) => {
    expect(parentChanged(event)).toBe(expected);
  });
});

describe('a child wakes its parent', () => {
  const watches = childWatches(K0smotronClusters, K0smotronControlPlanes, ({ status }: K0smotronCluster) =>
    String(status?.replicas === 3),
  );
  const hears = (event: ObjectEvent): string[] =>
    watches
      .filter(({ predicates }: Watch) => predicates.every((predicate) => predicate(event)))
      .map(({ patient }) => (patient ? 'patiently' : 'at once'));
  it.each<[string, string, ObjectEvent]>([
    ['when it comes', 'at once', { type: 'add', object: object({}), initial: false }],
    ['when somebody changes its spec', 'at once', update(object({}), object({}, 2))],
    ['when something decisive turns', 'at once', update(object({ replicas: 2 }), object({ replicas: 3 }))],
    ['when anything else of its status changes', 'patiently', update(object({ replicas: 1 }), object({ replicas: 2 }))],
  ])('%s', (_, how, event) => {
    expect(hears(event)).toEqual([how]);
  });
});
