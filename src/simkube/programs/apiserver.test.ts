import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMaps } from '../../api/index.ts';
import { createAuthority, issueCertificate } from '../../pki/index.ts';
import { etcdBehind } from './etcd/way.ts';
import { commandLineProblem } from './static-pod-flags.ts';
import { createProgramLab, type LabPod, type ProgramLab } from './testing/lab.ts';
import {
  adminOf,
  apiArgs,
  apiServerImage,
  createPlanePki,
  isServing,
  type PlanePki,
  startPlane,
} from './testing/plane.ts';

let lab: ProgramLab;
let pki: PlanePki;
beforeEach(async () => {
  lab = createProgramLab();
  pki = await createPlanePki(lab.clock);
});
afterEach(() => lab.close());

const writes = { fieldManager: 'test' };
const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

async function endOf(pod: LabPod, args: readonly string[]): Promise<number> {
  const run = pod.start(apiServerImage, args);
  await lab.until(() => run.exitCode() !== undefined);
  return run.exitCode()!;
}

describe('flags of a Kubernetes release', () => {
  it.each([
    ['v1.32.9', ['--cloud-provider=external', '--cloud-config=/x'], undefined],
    ['v1.33.0', ['--cloud-provider=external'], 'Error: unknown flag: --cloud-provider'],
    ['v1.34.2', ['--cloud-config', '/x'], 'Error: unknown flag: --cloud-config'],
    ['v1.28.0', ['--authentication-config=/x'], 'Error: unknown flag: --authentication-config'],
    ['v1.34.0', ['--authentication-config=/x'], undefined],
  ])('kube-apiserver %s with %s reports: %s', (version, args, problem) => {
    expect(commandLineProblem('kube-apiserver', args, version)).toBe(problem);
  });

  it.each(['kube-controller-manager', 'kube-scheduler'] as const)('%s refuses an unknown flag', (program) => {
    expect(commandLineProblem(program, ['--no-such-flag'], 'v1.34.0')).toBe('Error: unknown flag: --no-such-flag');
    expect(commandLineProblem(program, ['--emulated-version=1.30'], 'v1.30.0')).toContain('unknown flag');
    expect(commandLineProblem(program, ['--kubeconfig=/x', '--leader-elect=true', '--v=2'], 'v1.34.0')).toBeUndefined();
  });
});

describe('kube-apiserver in a Pod', () => {
  it.each([
    ['unknown flags', ['--no-such-flag=1'], 'Error: unknown flag: --no-such-flag'],
    ['flags that are gone', ['--cloud-provider=external'], 'Error: unknown flag: --cloud-provider'],
    ['missing files', ['--client-ca-file=/none'], 'Error: open /none: no such file or directory'],
    ['unknown authorization', ['--authorization-mode=Guess'], 'Unsupported value: "Guess"'],
    ['a key of another certificate', ['--tls-private-key-file=/pki/sa.key'], 'private key does not match public key'],
    ['no issuer', ['--service-account-issuer='], 'service-account-issuer is a required flag'],
  ])('refuses %s', async (_what, args, words) => {
    const pod = lab.pod('api-0', await pki.apiFiles('api-0'));
    expect(await endOf(pod, apiArgs('https://etcd-0:2379', args))).toBe(1);
    expect(pod.lines.join('\n')).toContain(words);
  });

  it('waits for etcd for a while and then gives up', async () => {
    const pod = lab.pod('api-0', await pki.apiFiles('api-0'));
    expect(await endOf(pod, apiArgs('https://etcd-0:2379'))).toBe(1);
    expect(pod.lines.join('\n')).toContain('ECONNREFUSED');
  });

  it('is refused by etcd with a certificate of another authority', async () => {
    await startPlane(lab, pki);
    const stranger = await createAuthority({ commonName: 'stranger', clock: lab.clock });
    const client = await issueCertificate({
      authority: stranger,
      commonName: 'c',
      usages: ['client'],
      clock: lab.clock,
    });
    const pod = lab.pod('api-1', {
      ...(await pki.apiFiles('api-1')),
      '/pki/etcd/client.crt': client.certificate,
      '/pki/etcd/client.key': client.privateKey,
    });
    expect(await endOf(pod, apiArgs('https://etcd-0:2379'))).toBe(1);
    expect(pod.lines.join('\n')).toContain('tls: bad certificate');
  });

  it('keeps tenants of one etcd apart, and within their own keys where etcd demands it', async () => {
    const { etcdRun } = await startPlane(lab, pki);
    const files = await pki.apiFiles('api-0', 'api-1');
    const tenant = lab.pod('api-1', files);
    tenant.start(apiServerImage, apiArgs('https://etcd-0:2379', ['--etcd-prefix=tenant']));
    await lab.until(() => isServing(lab, 'api-1'));
    const one = await adminOf(lab, pki, 'api-0');
    const other = await adminOf(lab, pki, 'api-1');
    await one.create(ConfigMaps, map('mine'), writes);
    const names = (await other.list(ConfigMaps, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
    expect(names).not.toContain('mine');
    const { access } = etcdBehind(lab.dial('etcd-0', 2379))!.endpoint.cluster;
    access.addUser('root');
    access.grantRole('root', 'root');
    access.addUser('apiserver-etcd-client');
    access.addRole('tenant');
    access.grantPermission('tenant', { from: '/tenant/', to: '/tenant0', reads: true, writes: true });
    access.grantRole('apiserver-etcd-client', 'tenant');
    access.enable();
    const again = lab.pod('api-2', files);
    expect(await endOf(again, apiArgs('https://etcd-0:2379'))).toBe(1);
    expect(again.lines.join('\n')).toContain('etcdserver: permission denied');
    lab.pod('api-3', files).start(apiServerImage, apiArgs('https://etcd-0:2379', ['--etcd-prefix=/tenant']));
    await lab.until(() => isServing(lab, 'api-3'));
    await etcdRun.stop();
  });

  it('trusts two authorities during a replacement, beside instances that trust one', async () => {
    await startPlane(lab, pki);
    const next = await createPlanePki(lab.clock);
    const files = await pki.apiFiles('api-1');
    const both = { ...files, '/pki/ca.crt': pki.authority.certificate + next.authority.certificate };
    const args = apiArgs('https://etcd-0:2379', ['--service-account-key-file=/pki/sa-old.pub']);
    lab.pod('api-1', { ...both, '/pki/sa-old.pub': next.serviceAccounts.publicKey }).start(apiServerImage, args);
    await lab.until(() => isServing(lab, 'api-1'));
    const pair = await issueCertificate({
      authority: next.authority,
      commonName: 'admin',
      organizations: ['system:masters'],
      usages: ['client'],
      clock: lab.clock,
    });
    const connect = (name: string) =>
      lab.dial(name, 6443).api!.connect({
        certificateAuthority: pki.authority.certificate,
        clientCertificate: { certificate: pair.certificate, key: pair.privateKey },
        serverName: name,
      });
    await connect('api-1').create(ConfigMaps, map('by-the-new'), writes);
    await expect(connect('api-0').list(ConfigMaps)).rejects.toMatchObject({ code: 401 });
    const seen = await (await adminOf(lab, pki, 'api-0')).get(ConfigMaps, { namespace: 'default', name: 'by-the-new' });
    expect(seen.metadata.name).toBe('by-the-new');
  });

  it('serves a renewed certificate without a restart', async () => {
    const { api } = await startPlane(lab, pki);
    const before = lab.dial('api-0', 6443).api!.servingCertificate?.();
    const renewed = await pki.apiFiles('api-0');
    api.files.set('/pki/apiserver.key', renewed['/pki/apiserver.key']!);
    api.files.set('/pki/apiserver.crt', renewed['/pki/apiserver.crt']!);
    expect(lab.dial('api-0', 6443).api!.servingCertificate?.()).toBe(renewed['/pki/apiserver.crt']);
    expect(renewed['/pki/apiserver.crt']).not.toBe(before);
    await adminOf(lab, pki, 'api-0');
  });

  it('is not ready and answers nobody while etcd is away', async () => {
    const { etcd, etcdRun } = await startPlane(lab, pki);
    const admin = await adminOf(lab, pki, 'api-0');
    const ready = async (): Promise<number> => (await lab.dial('api-0', 6443).get!('/readyz')).status;
    expect(await ready()).toBe(200);
    await etcdRun.stop();
    expect(await ready()).toBe(500);
    let failure: unknown;
    admin.list(ConfigMaps).catch((error: unknown) => {
      failure = error;
    });
    await lab.until(() => failure !== undefined);
    expect(failure).toMatchObject({ code: 500 });
    expect(etcd.lines.length).toBeGreaterThan(0);
  });
});
