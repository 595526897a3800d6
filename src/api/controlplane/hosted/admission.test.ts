import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../../machinery/index.ts';
import { created, defaulted, make, refusedBySchema, updated } from '../../admission.test-support.ts';

const gateway = { name: 'g', namespace: 'n' };
const plane = (spec: JsonObject, status?: JsonObject): UnstructuredObject =>
  make('HostedControlPlane', { version: 'v1.33.4', gateway, ...spec }, {}, status);
const username = { claim: 'sub' };

describe('a HostedControlPlane', () => {
  it.each<JsonObject>([
    {},
    { version: '1.33.4', replicas: 0 },
    { apiServer: { certSANs: ['a.example.org'] } },
    { etcd: { volumeSize: '4Gi' } },
    { etcd: { autoGrow: true, backup: { schedule: '30 2 * * 1', secret: { name: 's' } } } },
    { certificates: { caCertificateDuration: '24h' } },
    { oidcProviders: { 'https://id.example.org': { audiences: ['a'], claimMappings: { username } } } },
    { deployment: { apiServer: { mounts: { x: { path: '/x', secret: { secretName: 's' } } } } } },
    { deployment: { apiServer: { audit: { policy: { rules: [] } } } } },
  ])('accepts %j', (spec) => {
    const object = defaulted(plane(spec));
    expect(refusedBySchema(object)).toEqual([]);
    expect(created(object)).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [
      { apiServer: { certSANs: ['a b'] } },
      'spec.apiServer.certSANs[0]: Invalid value: "a b": must be a DNS name or an IP address',
    ],
    [
      { etcd: { volumeSize: '4Gi', autoGrow: true } },
      'spec.etcd.autoGrow: Forbidden: cannot be used together with volumeSize',
    ],
    [
      { etcd: { backup: { schedule: '*/5 * * * *', secret: { name: 's' } } } },
      'spec.etcd.backup.schedule: Invalid value: "*/5 * * * *": must be five fields of cron, each a single value or *, or @daily',
    ],
    [
      { certificates: { rootCaCertificateDuration: '24h' } },
      'spec.certificates.rootCaCertificateDuration: Invalid value: "24h": must not be less than caCertificateDuration (87600h)',
    ],
    [
      { certificates: { caCertificateDuration: 'long' } },
      'spec.certificates.caCertificateDuration: Invalid value: "long": must be a duration, e.g. 48h or 8760h',
    ],
    [
      { oidcProviders: { 'https://kubernetes.default.svc': { audiences: ['a'], claimMappings: { username } } } },
      'spec.oidcProviders[https://kubernetes.default.svc]: Forbidden: is the issuer of the cluster itself',
    ],
    [
      { oidcProviders: { 'http://x': { audiences: ['a'], claimMappings: { username } } } },
      'spec.oidcProviders[http://x]: Invalid value: "http://x": must be a URL that begins with https://',
    ],
    [
      { deployment: { apiServer: { mounts: { x: { path: '/x' } } } } },
      'spec.deployment.apiServer.mounts[x]: Invalid value: {"path":"/x"}: must have either a configMap or a secret',
    ],
    [
      { deployment: { apiServer: { audit: { policy: { kind: 'Policy' } } } } },
      'spec.deployment.apiServer.audit.policy.rules: Required value',
    ],
  ])('refuses %j', (spec, problem) => {
    expect(created(plane(spec))).toEqual([problem]);
  });

  it('accepts no Gateway, an empty one, and one with a namespace and no name as stacks write it', () => {
    expect(refusedBySchema(make('HostedControlPlane', { version: 'v1.33.4' }))).toEqual([]);
    expect(refusedBySchema(plane({ gateway: {} }))).toEqual([]);
    expect(refusedBySchema(plane({ gateway: { name: '', namespace: 'default' } }))).toEqual([]);
  });

  it('refuses a smaller etcd volume and an older version', () => {
    const size = (volumeSize: string): JsonObject => ({ etcd: { volumeSize } });
    expect(updated(plane(size('4Gi')), plane(size('2Gi')))).toEqual([]);
    expect(updated(plane(size('1Gi')), plane(size('2Gi')))).toEqual([
      'spec.etcd.volumeSize: Forbidden: cannot be less than before (2Gi)',
    ]);
    expect(updated(plane({ version: 'v1.32.0' }), plane({}, { version: 'v1.33.4' }))).toHaveLength(1);
  });
});

it('HostedControlPlaneTemplate accepts what stacks write', () => {
  const template = make('HostedControlPlaneTemplate', {
    template: { spec: { gateway, replicas: 3, apiServer: { certSANs: ['a.example.org'] } } },
  });
  expect(refusedBySchema(template)).toEqual([]);
  expect(created(template)).toEqual([]);
});
