import { describe, expect, it } from 'vitest';
import { asTyped, asUnstructured, type KubeObject, type UnstructuredObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { AdmissionChain } from './chain.ts';
import { limitRanger } from './limit-ranger.ts';
import type { AdmissionRequest } from './types.ts';

function storeOf(...ranges: object[][]): Store<StoredObject> {
  const records = ranges.map((limits) => ({ value: { object: { spec: { limits } } } }));
  return { list: () => ({ records, revision: 1 }) } as unknown as Store<StoredObject>;
}

/** Returns the object after the step, or throws the refusal. */
function admit(
  plural: 'pods' | 'persistentvolumeclaims',
  spec: object,
  ranges: object[][],
  more: Partial<AdmissionRequest> = {},
): UnstructuredObject {
  const chain = new AdmissionChain();
  chain.add(limitRanger(storeOf(...ranges)));
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', namespace: 'ns' }, spec };
  const request = {
    operation: 'CREATE',
    target: { resource: { definition: { group: '', plural } }, name: 'x', namespace: 'ns' },
    subresource: undefined,
    object,
    ...more,
  } as Partial<AdmissionRequest> as AdmissionRequest;
  void chain.mutate(request);
  void chain.validate(request);
  return asUnstructured(object);
}

const container = (resources: object = {}, more: object = {}): object => ({
  name: 'c',
  image: 'i',
  resources,
  ...more,
});
const resourcesOf = (pod: KubeObject): unknown[] =>
  asTyped<{ spec: { containers: { resources: unknown }[] } }>(pod).spec.containers.map((c) => c.resources);

describe('LimitRanger defaulting', () => {
  const defaults = { type: 'Container', default: { cpu: '500m', memory: '256Mi' }, defaultRequest: { cpu: '100m' } };

  it('fills in limits and requests that containers leave out, and records it in an annotation', () => {
    const pod = admit('pods', { containers: [container(), container({ limits: { cpu: '1' } }, { name: 'd' })] }, [
      [defaults],
    ]);
    expect(resourcesOf(pod)).toEqual([
      { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m' } },
      { limits: { cpu: '1', memory: '256Mi' }, requests: { cpu: '100m' } },
    ]);
    expect(pod.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; cpu request for container d; memory limit for container d',
    });
  });

  it('fills in nothing when a container sets its limits and requests', () => {
    const said = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } };
    const pod = admit('pods', { containers: [container(said)] }, [[defaults]]);
    expect(resourcesOf(pod)).toEqual([said]);
    expect(pod.metadata.annotations).toBeUndefined();
  });

  it('fills in nothing on updates', () => {
    const pod = admit('pods', { containers: [container()] }, [[defaults]], { operation: 'UPDATE' });
    expect(resourcesOf(pod)).toEqual([{}]);
  });
});

describe('LimitRanger validation', () => {
  const each = { type: 'Container', max: { cpu: '2' }, min: { cpu: '50m' }, maxLimitRequestRatio: { cpu: '10' } };
  const whole = { type: 'Pod', max: { cpu: '3' } };

  it.each<[string, object, object[], string]>([
    [
      'a limit above the maximum',
      { containers: [container({ requests: { cpu: '1' }, limits: { cpu: '3' } })] },
      [each],
      'maximum cpu usage per Container is 2, but limit is 3',
    ],
    [
      'no limit where there is a maximum',
      { containers: [container({ requests: { cpu: '1' } })] },
      [{ type: 'Container', max: { cpu: '2' } }],
      'maximum cpu usage per Container is 2.  No limit is specified',
    ],
    [
      'a request below the minimum',
      { containers: [container({ requests: { cpu: '10m' }, limits: { cpu: '60m' } })] },
      [each],
      'minimum cpu usage per Container is 50m, but request is 10m',
    ],
    [
      'no request where there is a minimum',
      { containers: [container()] },
      [{ type: 'Container', min: { memory: '64Mi' } }],
      'minimum memory usage per Container is 64Mi.  No request is specified',
    ],
    [
      'limits far above requests',
      { containers: [container({ requests: { cpu: '100m' }, limits: { cpu: '2' } })] },
      [each],
      'cpu max limit to request ratio per Container is 10, but provided ratio is 20.000000',
    ],
    [
      'init containers too',
      { containers: [], initContainers: [container({ requests: { cpu: '1' }, limits: { cpu: '3' } })] },
      [each],
      'maximum cpu usage per Container is 2, but limit is 3',
    ],
    [
      'pods as a whole, with the sidecars that run beside their containers',
      {
        containers: [container({ limits: { cpu: '2' } })],
        initContainers: [
          container({ limits: { cpu: '1' } }),
          container({ limits: { cpu: '1500m' } }, { restartPolicy: 'Always' }),
        ],
      },
      [whole],
      'maximum cpu usage per Pod is 3, but limit is 3500m',
    ],
    [
      'several things at once',
      { containers: [container({ requests: { cpu: '3' }, limits: { cpu: '4' } })] },
      [each, whole],
      '[maximum cpu usage per Container is 2, but limit is 4, maximum cpu usage per Pod is 3, but limit is 4]',
    ],
  ])('refuses %s', (_what, spec, limits, message) => {
    expect(() => admit('pods', spec, [limits])).toThrow(`pods "x" is forbidden: ${message}`);
  });

  it('refuses claims larger than the maximum or smaller than the minimum', () => {
    const limits = [{ type: 'PersistentVolumeClaim', max: { storage: '2Gi' }, min: { storage: '1Gi' } }];
    const claim = (storage: string): object => ({ resources: { requests: { storage } } });
    expect(() => admit('persistentvolumeclaims', claim('3Gi'), [limits])).toThrow(
      'persistentvolumeclaims "x" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    );
    expect(() => admit('persistentvolumeclaims', claim('3Mi'), [limits])).toThrow(
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 3Mi',
    );
    expect(() => admit('persistentvolumeclaims', claim('2Gi'), [limits])).not.toThrow();
  });

  it('refuses nothing in updates of an object that is being deleted', () => {
    const limits = [{ type: 'PersistentVolumeClaim', max: { storage: '2Gi' } }];
    const oldObject = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } } as UnstructuredObject;
    const spec = { resources: { requests: { storage: '3Gi' } } };
    const update = { operation: 'UPDATE' as const, oldObject };
    expect(() => admit('persistentvolumeclaims', spec, [limits], update)).not.toThrow();
  });
});
