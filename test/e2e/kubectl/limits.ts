import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { pod } from './objects.ts';
import { lines } from './output.ts';

/** Quotas and limit ranges. */
export function limitExpectations(expectation: Expectation): void {
  /** Waits until the quota reports this usage. */
  const used = (s: Sandbox, quota: string, amounts: Record<string, string>): Promise<void> =>
    eventually(async () => {
      const { status } = await s.json`quota ${quota}`;
      expect(status.used).toEqual(amounts);
    });
  const withResources = (name: string, resources: object, spec: object = {}): object =>
    pod(
      name,
      {},
      {
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'registry.example/app:1', resources }],
        ...spec,
      },
    );
  const create = (s: Sandbox, object: object): Promise<string> => s.with(object).fails`create -f -`;

  expectation('a quota counts objects, refuses more, and gives back what is deleted', async (s) => {
    await s.ok`create quota q --hard=secrets=1,count/deployments.apps=1`;
    await used(s, 'q', { secrets: '0', 'count/deployments.apps': '0' });
    await s.ok`create secret generic one`;
    await s.ok`create deployment one --image=i --replicas=0`;
    await used(s, 'q', { secrets: '1', 'count/deployments.apps': '1' });
    expect(await s.fails`create secret generic two`).toBe(
      'error: failed to create secret secrets "two" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1\n',
    );
    expect(await s.fails`create deployment two --image=i --replicas=0`).toContain(
      'deployments.apps "two" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1',
    );
    expect(await s.fails`create secret generic two --dry-run=server`).toContain('exceeded quota: q');
    await s.ok`delete secret one`;
    await used(s, 'q', { secrets: '0', 'count/deployments.apps': '1' });
    await s.ok`create secret generic two`;
  });

  expectation('a quota on compute resources adds up what pods ask for', async (s) => {
    await s.ok`create quota q --hard=pods=2,requests.cpu=1,limits.memory=1Gi`;
    await used(s, 'q', { pods: '0', 'requests.cpu': '0', 'limits.memory': '0' });
    expect(await create(s, withResources('a', {}))).toContain(
      'pods "a" is forbidden: failed quota: q: must specify limits.memory for: main; requests.cpu for: main',
    );
    await s.with(withResources('a', { requests: { cpu: '600m' }, limits: { memory: '512Mi' } })).ok`create -f -`;
    expect(await create(s, withResources('b', { requests: { cpu: '600m' }, limits: { memory: '768Mi' } }))).toContain(
      'exceeded quota: q, requested: limits.memory=768Mi,requests.cpu=600m, used: limits.memory=512Mi,requests.cpu=600m, limited: limits.memory=1Gi,requests.cpu=1',
    );
    await used(s, 'q', { pods: '1', 'requests.cpu': '600m', 'limits.memory': '512Mi' });
    await s.ok`patch pod a --subresource=status --type=merge -p ${'{"status":{"phase":"Succeeded"}}'}`;
    await used(s, 'q', { pods: '0', 'requests.cpu': '0', 'limits.memory': '0' });
  });

  expectation('a quota on services counts node ports, also when a service becomes one', async (s) => {
    await s.ok`create quota q --hard=services=2,services.nodeports=1,services.loadbalancers=0`;
    await used(s, 'q', { services: '0', 'services.nodeports': '0', 'services.loadbalancers': '0' });
    await s.ok`create service clusterip a --tcp=80`;
    expect(await s.fails`create service nodeport b --tcp=80 --tcp=81`).toContain(
      'requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1',
    );
    await s.ok`create service nodeport b --tcp=80`;
    expect(await s.fails`patch service a -p ${'{"spec":{"type":"NodePort"}}'}`).toContain(
      'services "a" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
    );
    await used(s, 'q', { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '0' });
  });

  expectation('a quota with scopes is about the pods in these', async (s) => {
    await s.ok`create quota q --hard=pods=0 --scopes=BestEffort`;
    await used(s, 'q', { pods: '0' });
    expect(await create(s, withResources('a', {}))).toContain(
      'exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
    );
    await s.with(withResources('a', { requests: { cpu: '1' } })).ok`create -f -`;
    expect(await s.ok`describe quota q`).toContain('Scopes:     BestEffort\n');
  });

  expectation('describe quota shows what is used of what is granted', async (s) => {
    await s.ok`create quota q --hard=pods=2,requests.storage=2Gi`;
    await used(s, 'q', { pods: '0', 'requests.storage': '0' });
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1.5Gi' } } },
    };
    await s.with(claim).ok`create -f -`;
    await used(s, 'q', { pods: '0', 'requests.storage': '1536Mi' });
    expect(lines(await s.ok`describe quota q`)).toEqual([
      'Name:             q',
      `Namespace:        ${s.namespace}`,
      'Resource          Used    Hard',
      '--------          ----    ----',
      'pods              0       2',
      'requests.storage  1536Mi  2Gi',
    ]);
  });

  expectation('a limit range fills in what containers do not say', async (s) => {
    await s.with(limitRange()).ok`create -f -`;
    await eventually(async () => {
      await s.run`delete pod a --ignore-not-found --force --grace-period=0`;
      await s.with(withResources('a', {})).ok`create -f -`;
      const made = await s.json`pod a`;
      expect(made.spec.containers[0].resources).toEqual({
        limits: { cpu: '500m', memory: '256Mi' },
        requests: { cpu: '100m', memory: '256Mi' },
      });
      expect(made.metadata.annotations).toEqual({
        'kubernetes.io/limit-ranger':
          'LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container main',
      });
    });
  });

  expectation('a limit range refuses what is too much or too little', async (s) => {
    await s.with(limitRange()).ok`create -f -`;
    await eventually(async () => {
      expect(await create(s, withResources('a', { limits: { cpu: '3' } }))).toContain(
        'maximum cpu usage per Container is 2, but limit is 3',
      );
    });
    expect(await create(s, withResources('a', { requests: { cpu: '10m' }, limits: { cpu: '60m' } }))).toContain(
      'pods "a" is forbidden: minimum cpu usage per Container is 50m, but request is 10m',
    );
    expect(await create(s, withResources('a', { requests: { cpu: '100m' }, limits: { cpu: '2' } }))).toContain(
      'pods "a" is forbidden: cpu max limit to request ratio per Container is 10, but provided ratio is 20.000000',
    );
    const claim = (storage: string): object => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
    expect(await create(s, claim('3Gi'))).toContain(
      'persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    );
    await s.with(claim('2Gi')).ok`create -f -`;
  });

  expectation('describe limits shows the range', async (s) => {
    await s.with(limitRange()).ok`create -f -`;
    // kubectl prints the resources of a type in random order.
    const [name, namespace, header, rule, ...rows] = lines(await s.ok`describe limits range`);
    expect([name, namespace, header, rule, ...rows.sort()].map((line) => line?.trimEnd())).toEqual([
      'Name:                  range',
      `Namespace:             ${s.namespace}`,
      'Type                   Resource  Min  Max  Default Request  Default Limit  Max Limit/Request Ratio',
      '----                   --------  ---  ---  ---------------  -------------  -----------------------',
      'Container              cpu       50m  2    100m             500m           10',
      'Container              memory    -    -    256Mi            256Mi          -',
      'PersistentVolumeClaim  storage   -    2Gi  -                -              -',
    ]);
  });

  function limitRange(): object {
    return {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'range' },
      spec: {
        limits: [
          {
            type: 'Container',
            default: { cpu: '500m', memory: '256Mi' },
            defaultRequest: { cpu: '100m' },
            max: { cpu: '2' },
            min: { cpu: '50m' },
            maxLimitRequestRatio: { cpu: '10' },
          },
          { type: 'PersistentVolumeClaim', max: { storage: '2Gi' } },
        ],
      },
    };
  }
}
