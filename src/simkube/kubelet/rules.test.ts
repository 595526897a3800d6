import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/index.ts';
import { containerResource, type PodContext, podField } from './downward.ts';
import { expandVariables } from './expand.ts';
import { Backoff, formatPause, isRunAgain } from './restart.ts';

describe('variables in command lines', () => {
  it.each([
    ['$(A)-$(B)', 'one-$(B)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$one'],
    ['$A $( $(', '$A $( $('],
    ['$(A)$(A)', 'oneone'],
  ])('%s becomes %s', (text, expected) => {
    expect(expandVariables(text, { A: 'one' })).toBe(expected);
  });

  it('leave text without references unchanged', () => {
    fc.assert(fc.property(fc.string(), (text) => text.includes('$') || expandVariables(text, { A: 'x' }) === text));
  });
});

describe('restarts of containers', () => {
  it.each([
    ['main', 'Always', 0, true],
    ['main', 'Always', 1, true],
    ['main', 'OnFailure', 0, false],
    ['main', 'OnFailure', 1, true],
    ['main', 'Never', 1, false],
    ['init', 'Always', 0, false],
    ['init', 'Always', 1, true],
    ['init', 'Never', 1, false],
    ['sidecar', 'Never', 0, true],
  ] as const)('of a %s container with policy %s and exit code %d: %s', (kind, policy, exitCode, expected) => {
    expect(isRunAgain(kind, policy, { exitCode, reason: '' })).toBe(expected);
  });

  it('have growing pauses up to five minutes, and none after a long good run', () => {
    const backoff = new Backoff();
    const pauses = Array.from({ length: 8 }, () => formatPause(backoff.next()));
    expect(pauses).toEqual(['0s', '10s', '20s', '40s', '1m20s', '2m40s', '5m0s', '5m0s']);
    backoff.ran(599_000);
    expect(backoff.next()).toBe(300_000);
    backoff.ran(600_000);
    expect(backoff.next()).toBe(0);
  });
});

describe('the downward API of a Pod', () => {
  const around: PodContext = {
    nodeName: 'n',
    nodeAddress: '127.65.0.1',
    podAddress: '10.244.0.9',
    allocatable: { cpu: '8', memory: '1Gi' },
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid: 'u', labels: { b: '2', a: 'x"y' } },
    spec: {
      serviceAccountName: 'sa',
      containers: [{ name: 'c', resources: { limits: { memory: '100Mi' }, requests: { cpu: '1500m' } } }],
    },
  };

  it.each([
    ['metadata.namespace', 'ns'],
    ['metadata.uid', 'u'],
    ['metadata.labels', 'a="x\\"y"\nb="2"'],
    ["metadata.labels['b']", '2'],
    ["metadata.annotations['none']", ''],
    ['spec.serviceAccountName', 'sa'],
    ['status.hostIP', '127.65.0.1'],
    ['status.podIP', '10.244.0.9'],
    ['spec.containers', undefined],
  ])('reads the field %s', (path, expected) => {
    expect(podField(pod, path, around)).toBe(expected);
  });

  it.each([
    [{ resource: 'limits.memory' }, String(100 * 1024 * 1024)],
    [{ resource: 'limits.memory', divisor: '1Mi' }, '100'],
    [{ resource: 'requests.cpu' }, '2'],
    [{ resource: 'requests.cpu', divisor: '1m' }, '1500'],
    [{ resource: 'limits.cpu' }, '8'],
    [{ resource: 'limits.cpu', containerName: 'absent' }, undefined],
  ])('reads the resource %o', (reference, expected) => {
    expect(containerResource(pod, reference, undefined, around)).toBe(expected);
  });
});
