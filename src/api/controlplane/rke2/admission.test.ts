import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../machinery/index.ts';
import { created, defaulted, make, strategyOf, updated } from '../../admission.test-support.ts';

const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachineTemplate', name: 'm' };
const base: JsonObject = { version: 'v1.34.2+rke2r1', machineTemplate: { spec: { infrastructureRef } } };
const refused = (more: JsonObject): string[] => created(defaulted(make('RKE2ControlPlane', { ...base, ...more })));

describe('an RKE2ControlPlane', () => {
  it('defaults to one replica, a surge of one and ten seconds per deletion timeout', () => {
    const spec = defaulted(make('RKE2ControlPlane', base)).spec as JsonObject;
    expect(spec).toMatchObject({
      replicas: 1,
      rolloutStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
      machineTemplate: { spec: { deletion: { nodeDrainTimeoutSeconds: 10 } } },
    });
  });

  it.each<JsonObject>([
    {},
    { replicas: 3, registrationMethod: 'internal-first' },
    { registrationMethod: 'address', registrationAddress: 'rke2.example.org' },
    { serverConfig: { cni: 'cilium', cniMultusEnable: true } },
    { version: 'v1.33.0-rc1+rke2r2' },
    { serverConfig: { auditPolicySecret: { name: 's', namespace: 'n' } } },
    { agentConfig: { nodeTaints: ['a=b:NoSchedule', 'c:NoExecute'], nodeLabels: ['x=y'] } },
  ])('accepts %j', (spec) => {
    expect(refused(spec)).toEqual([]);
  });

  it.each<[JsonObject, string[]]>([
    [{ replicas: 2 }, ['spec.replicas: etcd with 2 members tolerates no more failures than with 1; use an odd number']],
    [{ replicas: 3 }, []],
    [{ replicas: 2, serverConfig: { externalDatastoreSecret: { name: 's', namespace: 'n' } } }, []],
  ])('accepts %j with the warnings %j', (spec, warnings) => {
    expect(strategyOf('RKE2ControlPlane').warnings!(make('RKE2ControlPlane', { ...base, ...spec }))).toEqual(warnings);
  });

  it.each<[JsonObject, string]>([
    [{ version: 'v1.34.2' }, 'spec.version: Invalid value: "v1.34.2": must be a version of rke2, e.g. v1.34.2+rke2r1'],
    [{ replicas: 0 }, 'spec.replicas: Forbidden: cannot be less than or equal to 0'],
    [
      { registrationMethod: 'address' },
      'spec.registrationAddress: Invalid value: "": registrationAddress must be supplied when using registration method \'address\'',
    ],
    [
      { serverConfig: { cniMultusEnable: true } },
      'spec.serverConfig.cni: Invalid value: "": must be specified when cniMultusEnable is true',
    ],
    [
      { rolloutStrategy: { rollingUpdate: { maxSurge: 2 } } },
      'spec.rolloutStrategy.rollingUpdate.maxSurge: Invalid value: 2: must be 0 or 1',
    ],
    [
      { remediationStrategy: { retryPeriod: 'soon' } },
      'spec.remediationStrategy.retryPeriod: Invalid value: "soon": must be a duration like 5m',
    ],
    [
      { serverConfig: { etcd: { backupConfig: { scheduleCron: 'daily' } } } },
      'spec.serverConfig.etcd.backupConfig.scheduleCron: Invalid value: "daily": must be a schedule like "0 */12 * * *": expected exactly 5 fields, found 1: [daily]',
    ],
    [
      { serverConfig: { auditPolicySecret: { name: 's', namespace: 'other' } } },
      'spec.serverConfig.auditPolicySecret.namespace: Invalid value: "other": must be the namespace of the object itself, or left out',
    ],
    [
      { files: [{ path: '/a', contentFrom: { secret: { name: 's', key: 'k', namespace: 'other' } } }] },
      'spec.files[0].contentFrom.secret.namespace: Invalid value: "other": must be the namespace of the object itself, or left out',
    ],
    [
      { agentConfig: { nodeTaints: ['a=b'] } },
      'spec.agentConfig.nodeTaints[0]: Invalid value: "a=b": must be a taint as key=value:effect',
    ],
    [
      { privateRegistriesConfig: { configs: { 'r.example.org': {} } } },
      'spec.privateRegistriesConfig.configs[r.example.org]: Invalid value: {}: need either credentials, tls settings or both for registry: r.example.org',
    ],
  ])('refuses %j', (spec, problem) => {
    expect(refused(spec)).toEqual([problem]);
  });

  it.each<[JsonObject, JsonObject, string]>([
    [
      { registrationMethod: 'internal-first' },
      { registrationMethod: 'control-plane-endpoint' },
      'spec.registrationMethod: Invalid value: "control-plane-endpoint": field value is immutable once set',
    ],
    [
      { version: 'v1.32.0+rke2r1' },
      { version: 'v1.34.0+rke2r1' },
      'spec.version: Forbidden: cannot update Kubernetes version from v1.32.0+rke2r1 to v1.34.0+rke2r1: minor versions cannot be skipped',
    ],
    [
      {},
      { serverConfig: { externalDatastoreSecret: { name: 's' } } },
      'spec.serverConfig.externalDatastoreSecret: Forbidden: cannot change between the etcd on the machines and another datastore',
    ],
  ])('refuses a change from %j to %j', (before, after, problem) => {
    const object = (more: JsonObject) => defaulted(make('RKE2ControlPlane', { ...base, ...more }));
    expect(updated(object(after), object(before))).toEqual([problem]);
  });

  describe('with a requested restore', () => {
    const annotation = 'controlplane.cluster.x-k8s.io/restore';
    const s3 = { etcd: { backupConfig: { s3: { endpoint: 's3.example.com', bucket: 'b' } } } };
    const asked = (snapshot: string, spec: JsonObject = { serverConfig: s3 }) => {
      const object = defaulted(make('RKE2ControlPlane', { ...base, ...spec }));
      return { ...object, metadata: { ...object.metadata, annotations: { [annotation]: snapshot } } };
    };

    it('needs the name of a snapshot and an object store', () => {
      expect(created(asked('etcd-snapshot-server-1-1700000000'))).toEqual([]);
      for (const name of ['/var/lib/snapshot', 'a b', '$(reboot)', '-x']) {
        expect(created(asked(name))).toEqual([expect.stringContaining('must be the name of a snapshot')]);
      }
      expect(created(asked('a', {}))).toEqual([
        `metadata.annotations[${annotation}]: Forbidden: needs spec.serverConfig.etcd.backupConfig.s3: a new server has no snapshots of its own`,
      ]);
    });

    it('is checked when the annotation changes, and not later', () => {
      const plain = defaulted(make('RKE2ControlPlane', base));
      expect(updated(asked('a', {}), plain)).toHaveLength(1);
      expect(updated(asked('a', {}), asked('a', {}))).toEqual([]);
    });
  });

  it('is checked the same way as RKE2ControlPlaneTemplate', () => {
    const template = (spec: JsonObject) => make('RKE2ControlPlaneTemplate', { template: { spec } });
    expect(created(template({ serverConfig: { cniMultusEnable: true } }))).toHaveLength(1);
    expect(created(template({}))).toEqual([]);
    expect(updated(template({ registrationMethod: '' }), template({}))).toHaveLength(1);
  });
});

describe('an RKE2Config', () => {
  it.each<[JsonObject, string]>([
    [
      { agentConfig: { format: 'ignition' }, files: [{ path: '/a', encoding: 'gzip' }] },
      'spec.files[0].encoding: Forbidden: not supported when spec.format is set to "ignition"',
    ],
    [
      { agentConfig: { airGappedChecksum: 'abc' } },
      'spec.agentConfig.airGappedChecksum: Forbidden: can only be set together with airGapped',
    ],
    [{ files: [{ path: 'a' }] }, 'spec.files[0].path: Invalid value: "a": must be an absolute path'],
    [{ files: [{ path: '/a' }, { path: '/a' }] }, 'spec.files[1].path: Duplicate value: "/a"'],
  ])('refuses %j', (spec, problem) => {
    expect(created(make('RKE2Config', spec))).toEqual([problem]);
  });
});
