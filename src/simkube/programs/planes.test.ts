import { afterEach, describe, expect, it } from 'vitest';
import { ConfigMaps, Namespaces, ServiceAccounts } from '../../api/index.ts';
import { createProgramLab, type ProgramLab } from './testing/lab.ts';
import {
  adminOf,
  apiArgs,
  apiServerImage,
  createPlanePki,
  etcdArgs,
  etcdImage,
  initialCluster,
  isServing,
  startPlane,
} from './testing/plane.ts';

let lab: ProgramLab;
afterEach(() => lab.close());

const writes = { fieldManager: 'test' };
const map = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { a: 'b' },
});

describe('a plane of Pods', () => {
  it('serves its API, and its controllers run while a controller manager does', async () => {
    lab = createProgramLab();
    const pki = await createPlanePki(lab.clock);
    await startPlane(lab, pki);
    const admin = await adminOf(lab, pki, 'api-0');
    await admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'one' } }, writes);
    const manager = lab.pod('manager-0', {
      '/etc/kubernetes/controller-manager.conf': await pki.kubeconfig(
        'https://api-0:6443',
        'system:kube-controller-manager',
      ),
      '/pki/ca.crt': pki.authority.certificate,
      '/pki/ca.key': pki.authority.privateKey,
    });
    manager.start('registry.k8s.io/kube-controller-manager:v1.33.1', [
      'kube-controller-manager',
      '--kubeconfig=/etc/kubernetes/controller-manager.conf',
      '--cluster-signing-cert-file=/pki/ca.crt',
      '--cluster-signing-key-file=/pki/ca.key',
      '--root-ca-file=/pki/ca.crt',
      '--leader-elect=true',
    ]);
    await lab.until(async () => {
      const { items } = await admin.list(ServiceAccounts, { namespace: 'one' });
      return items.length === 1;
    });
    expect(manager.lines.join('\n')).toContain('successfully acquired lease');
  });

  it('keeps its objects when all its Pods are started anew, and loses them with its volume', async () => {
    lab = createProgramLab();
    const pki = await createPlanePki(lab.clock);
    const { etcd, api, etcdRun, apiRun } = await startPlane(lab, pki);
    const admin = await adminOf(lab, pki, 'api-0');
    await admin.create(ConfigMaps, map('kept'), writes);
    await apiRun.stop();
    await etcdRun.stop();
    const again = (): void => {
      etcd.start(etcdImage, etcdArgs('etcd-0', [`--initial-cluster=${initialCluster('etcd-0')}`]));
      api.start(apiServerImage, apiArgs('https://etcd-0:2379'));
    };
    again();
    await lab.until(() => isServing(lab, 'api-0'));
    const kept = await (await adminOf(lab, pki, 'api-0')).get(ConfigMaps, { namespace: 'default', name: 'kept' });
    expect(kept.data).toEqual({ a: 'b' });
  });
});
