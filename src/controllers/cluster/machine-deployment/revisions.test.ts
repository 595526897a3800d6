import { describe, expect, it } from 'vitest';
import type { MachineDeployment, MachineSet, MachineTemplate } from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import { templateDifferences } from '../common/template.ts';
import { desiredSet, setIdentity } from './desired-set.ts';
import { findRevisions, nextRevision } from './revisions.ts';

const now = Date.UTC(2026, 0, 1);
const template = (version: string, infrastructure = 'i', more: object = {}): MachineTemplate =>
  ({
    metadata: { labels: { pool: 'a' } },
    spec: {
      clusterName: 'c',
      version,
      bootstrap: { configRef: { apiGroup: 'b', kind: 'ConfigTemplate', name: 'b' } },
      infrastructureRef: { apiGroup: 'i', kind: 'MachineTemplate', name: infrastructure },
      ...more,
    },
  }) as MachineTemplate;
const deployment = (of: MachineTemplate, more: object = {}): MachineDeployment =>
  ({
    apiVersion: 'x',
    kind: 'MachineDeployment',
    metadata: { name: 'md', namespace: 'ns', uid: 'u', annotations: { team: 'blue' } },
    spec: { clusterName: 'c', replicas: 3, selector: { matchLabels: { pool: 'a' } }, template: of, ...more },
  }) as MachineDeployment;
const set = (name: string, of: MachineTemplate, replicas: number, revision: number, ageSeconds = 100): MachineSet =>
  ({
    metadata: {
      name,
      creationTimestamp: formatTime(now - ageSeconds * 1000),
      annotations: { 'machinedeployment.clusters.x-k8s.io/revision': String(revision) },
    },
    spec: { clusterName: 'c', selector: {}, replicas, template: of },
  }) as Partial<MachineSet> as MachineSet;

describe('differences that cause a rollout', () => {
  it.each([
    ['none', template('v1'), []],
    ['a version', template('v2'), ['Version v1, v2 required']],
    ['infrastructure', template('v1', 'j'), ['Machine is not up-to-date']],
    [
      'bootstrap',
      template('v1', 'i', { bootstrap: { configRef: { apiGroup: 'b', kind: 'ConfigTemplate', name: 'c' } } }),
      ['Config is not up-to-date'],
    ],
    ['a failure domain', template('v1', 'i', { failureDomain: 'az2' }), ['Failure domain , az2 required']],
    [
      'what is changed in place',
      template('v1', 'i', { minReadySeconds: 9, taints: [], deletion: { nodeDrainTimeoutSeconds: 1 } }),
      [],
    ],
  ])('are found for: %s', (_, desired, expected) => {
    expect(templateDifferences(template('v1'), desired)).toEqual(expected);
  });
});

describe('revisions of a machine deployment', () => {
  it('choose the matching set with most machines', () => {
    const sets = [set('a', template('v1'), 1, 1), set('b', template('v1'), 2, 2), set('c', template('v2'), 5, 3)];
    const found = findRevisions(deployment(template('v1')), sets, now);
    expect(found.current?.metadata.name).toBe('b');
    expect(found.old.map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
    expect(nextRevision(found)).toBe(4);
  });
  it('increase from the newest one, and stay when the current one is newest', () => {
    expect(nextRevision({ current: undefined, old: [] })).toBe(1);
    expect(nextRevision({ current: set('a', template('v1'), 1, 3), old: [set('b', template('v2'), 1, 2)] })).toBe(3);
  });
  it('start a new set once spec.rollout.after has passed', () => {
    const sets = [set('a', template('v1'), 1, 1, 100)];
    const at = (seconds: number) =>
      deployment(template('v1'), { rollout: { after: formatTime(now + seconds * 1000) } });
    expect(findRevisions(at(-50), sets, now).current).toBeUndefined();
    expect(findRevisions(at(50), sets, now).current).toBeDefined();
    expect(findRevisions(at(-200), sets, now).current).toBeDefined();
  });
});

describe('the machine set of a revision', () => {
  it('has a stable name that differs by revision and template', () => {
    const name = (of: MachineDeployment, revision: number): string => setIdentity(of, revision).name;
    const first = name(deployment(template('v1')), 1);
    expect(first).toMatch(/^md-[a-z0-9]{5}$/);
    expect(name(deployment(template('v1')), 1)).toBe(first);
    expect(name(deployment(template('v1')), 2)).not.toBe(first);
    expect(name(deployment(template('v2')), 1)).not.toBe(first);
  });
  it('keeps its immutable fields and takes over those that change in place', () => {
    const existing = set('md-x', template('v1'), 2, 1);
    const desired = desiredSet(deployment(template('v2', 'j', { minReadySeconds: 7 })), {
      name: 'md-x',
      hash: 'h',
      revision: 1,
      replicas: 2,
      disableCreate: true,
      existing,
    });
    expect(desired.spec.template.spec).toMatchObject({
      version: 'v1',
      infrastructureRef: { name: 'i' },
      minReadySeconds: 7,
    });
    expect(desired.metadata.annotations).toEqual({
      team: 'blue',
      'machinedeployment.clusters.x-k8s.io/revision': '1',
      'machinedeployment.clusters.x-k8s.io/desired-replicas': '3',
      'machinedeployment.clusters.x-k8s.io/max-replicas': '4',
      'cluster.x-k8s.io/disable-machine-create': 'true',
    });
    expect(desired.spec.selector.matchLabels).toEqual({ pool: 'a', 'machine-template-hash': 'h' });
  });
});
