import { describe, expect, it } from 'vitest';
import { asTyped, type UnstructuredObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { AdmissionChain } from './chain.ts';
import { podPriority, podTolerations } from './pod-defaults.ts';
import type { AdmissionRequest } from './types.ts';

type PriorityClass = { name: string; value: number; globalDefault?: boolean; preemptionPolicy?: string };

/** A store of priority classes with the two reads that the step uses. */
function storeOf(...classes: PriorityClass[]): Store<StoredObject> {
  const space = { group: 'scheduling.k8s.io', plural: 'priorityclasses' };
  const records = classes.map(({ name, ...rest }) => ({
    key: objectKey(space, undefined, name),
    value: { object: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, ...rest } },
  }));
  return {
    head: (key: string) => records.find((record) => record.key === key),
    list: () => ({ records, revision: 1 }),
  } as unknown as Store<StoredObject>;
}

function podRequest(spec: Record<string, unknown>, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    operation: 'CREATE',
    target: { resource: { definition: { group: '', plural: 'pods' } }, name: 'p' },
    subresource: undefined,
    object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec },
    ...more,
  } as Partial<AdmissionRequest> as AdmissionRequest;
}

function admit(spec: Record<string, unknown>, ...classes: PriorityClass[]): UnstructuredObject['spec'] {
  const request = podRequest(spec);
  void podPriority(storeOf(...classes)).mutate?.(request);
  return request.object?.spec;
}

describe('the priority of a pod', () => {
  const low: PriorityClass = { name: 'low', value: 10, preemptionPolicy: 'Never' };

  it('is zero when the pod names no class', () => {
    expect(admit({}, low)).toEqual({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  });

  it('is the value of the class that the pod names', () => {
    expect(admit({ priorityClassName: 'low' }, low)).toEqual({
      priorityClassName: 'low',
      priority: 10,
      preemptionPolicy: 'Never',
    });
  });

  it('is the value of the lowest default class', () => {
    const defaults = [
      { name: 'high', value: 20, globalDefault: true },
      { name: 'mid', value: 15, globalDefault: true },
    ];
    expect(admit({}, low, ...defaults)).toMatchObject({ priorityClassName: 'mid', priority: 15 });
  });

  it('is refused when the class does not exist', () => {
    expect(() => admit({ priorityClassName: 'none' }, low)).toThrow(
      'pods "p" is forbidden: no PriorityClass with name none was found',
    );
  });

  it('is refused when it differs from the value of the class', () => {
    expect(() => admit({ priorityClassName: 'low', priority: 11 }, low)).toThrow(
      'priority admission controller computed 10',
    );
    expect(admit({ priorityClassName: 'low', priority: 10 }, low)).toMatchObject({ priority: 10 });
  });

  it('stays unchanged when an update leaves it out', () => {
    const decided = { priority: 10, preemptionPolicy: 'Never' };
    const oldObject = podRequest(decided).object!;
    const request = podRequest({}, { operation: 'UPDATE', oldObject });
    void podPriority(storeOf(low)).mutate?.(request);
    expect(request.object?.spec).toEqual(decided);
  });

  it('is decided only when a pod is created', () => {
    const chain = new AdmissionChain();
    chain.add(podPriority(storeOf()));
    const isTouched = (more: Partial<AdmissionRequest>): boolean => {
      const request = podRequest({}, more);
      void chain.mutate(request);
      return 'priority' in (request.object!.spec as object);
    };
    const services = { resource: { definition: { group: '', plural: 'services' } }, name: 's' };
    expect(isTouched({})).toBe(true);
    expect(isTouched({ operation: 'UPDATE' })).toBe(false);
    expect(isTouched({ subresource: 'binding' })).toBe(false);
    expect(isTouched({ target: services as AdmissionRequest['target'] })).toBe(false);
  });
});

describe('the tolerations of a pod', () => {
  const keysOf = (tolerations: object[] | undefined): unknown => {
    const request = podRequest(tolerations ? { tolerations } : {});
    void podTolerations.mutate?.(request);
    const { spec } = asTyped<{ spec: { tolerations: { key?: string }[] } }>(request.object!);
    return spec.tolerations.map(({ key }) => key);
  };

  it.each([
    [undefined, ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']],
    [[{ key: 'x', effect: 'NoSchedule' }], ['x', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']],
    [
      [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }],
      ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'],
    ],
    [
      [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
      ['node.kubernetes.io/not-ready', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'],
    ],
    [[{ operator: 'Exists' }], [undefined]],
  ])('%j are completed to the keys %j', (given, keys) => {
    expect(keysOf(given)).toEqual(keys);
  });
});
