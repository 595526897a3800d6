import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { builtInChart } from '../../../src/cli/built-in-charts.ts';
import type { JsonObject } from '../../../src/machinery/index.ts';
import { loadChart, renderChart } from '../../../src/template/index.ts';
import { capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { type House, openHouse, readyNodes } from '../vm-cluster/house.ts';

const missing = await missingKubectl();
const patienceMs = 90_000;

/** Renders a built-in chart for kubectl. */
function manifest(name: string, version: string, values: JsonObject): string {
  const chart = loadChart(builtInChart(name, version));
  if (!chart.ok) throw chart.error;
  const rendered = renderChart({ chart: chart.value, values, release: { name, namespace: 'kube-system' } });
  if (!rendered.ok) throw rendered.error;
  return rendered.value.objects.map(({ object }) => stringify(object)).join('---\n');
}

function fetched(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

describe.skipIf(missing !== undefined)(`add-ons of a cluster on machines${missing ? ` (${missing})` : ''}`, () => {
  let house: House;
  let workload: (...args: string[]) => Promise<string>;
  const install = async (name: string, version: string, values: JsonObject): Promise<void> => {
    const file = join(house.capstan.directory, `${name}.yaml`);
    await writeFile(file, manifest(name, version, values));
    await workload('-n', 'kube-system', 'apply', '-f', file);
  };
  const apply = async (...objects: object[]): Promise<void> => {
    const file = join(house.capstan.directory, 'objects.yaml');
    await writeFile(file, objects.map((object) => stringify(object)).join('---\n'));
    await workload('apply', '-f', file);
  };

  const cinderVolumes = async (): Promise<string[]> => {
    const names: string[] = [];
    for await (const { name } of house.cloud.openstack.volume.volumes.list()) names.push(name);
    return names;
  };

  beforeAll(async () => {
    house = await openHouse();
    await capstanOk(['apply', '-f', 'examples/vm-cluster', '--kubeconfig', house.capstan.kubeconfig]);
    await eventually(async () => {
      await house.workload('vm-cluster');
    }, 60_000);
    await readyNodes(house, 'vm-cluster', 3);
    workload = await house.workload('vm-cluster');
  }, 180_000);
  afterAll(() => house?.stop());

  it('the CSI driver of Cinder waits for its credentials, says so, and then creates volumes', async () => {
    await install('openstack-cinder-csi', '2.33.1', {
      clusterID: 'vm-cluster',
      secret: { enabled: true, create: false, name: 'csi-cloud-config' },
      storageClass: { delete: { isDefault: true } },
      csi: { plugin: { nodePlugin: { appLabel: 'cinder-csi' } } },
    });
    const controller = ['-n', 'kube-system', '-l', 'app=openstack-cinder-csi'];
    await eventually(async () => {
      expect(await workload('describe', 'pods', ...controller)).toContain('secret "csi-cloud-config" not found');
    }, patienceMs);
    await workload(
      ...['-n', 'kube-system', 'create', 'secret', 'generic', 'csi-cloud-config'],
      '--from-literal=cloud.conf=[Global]\nuse-clouds=true\nclouds-file=/etc/config/clouds.yaml\ncloud=openstack\n',
      `--from-file=clouds.yaml=${join(house.capstan.directory, 'data', 'clouds.yaml')}`,
    );
    await workload(
      '-n',
      'kube-system',
      'rollout',
      'status',
      'deployment/openstack-cinder-csi-controllerplugin',
      '--timeout=90s',
    );
    await workload(
      '-n',
      'kube-system',
      'rollout',
      'status',
      'daemonset/openstack-cinder-csi-nodeplugin',
      '--timeout=90s',
    );
    for (const label of ['app=openstack-cinder-csi', 'app=cinder-csi']) {
      expect(await workload('-n', 'kube-system', 'get', 'pods', '-l', label, '--no-headers')).toContain('Running');
    }
    await apply(
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
      },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'writer' },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'main', image: 'nginx', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        },
      },
    );
    await workload('wait', 'pvc/data', '--for=jsonpath={.status.phase}=Bound', '--timeout=90s');
    await workload('wait', 'pod/writer', '--for=condition=Ready', '--timeout=90s');
    await workload('exec', 'writer', '--', 'sh', '-c', 'echo kept > /data/file');
    expect(await cinderVolumes()).toContain(await workload('get', 'pvc', 'data', '-o', 'jsonpath={.spec.volumeName}'));
    expect(await workload('get', 'volumeattachments', '--no-headers')).toContain('cinder.csi.openstack.org');
  }, 240_000);

  it('a Service of type LoadBalancer gets an address that answers and releases it', async () => {
    await workload('create', 'deployment', 'web', '--image=nginx', '--port=80');
    await workload('wait', 'deployment/web', '--for=condition=Available', '--timeout=60s');
    await workload('expose', 'deployment', 'web', '--type=LoadBalancer', '--port=8080', '--target-port=80');
    const path = 'jsonpath={.status.loadBalancer.ingress[0].ip}';
    let address = '';
    await eventually(async () => {
      address = await workload('get', 'service', 'web', '-o', path);
      expect(address).not.toBe('');
    }, patienceMs);
    await eventually(async () => {
      expect(await fetched(`http://${address}:8080/`)).toContain('simulated container of image nginx');
    }, patienceMs);
    expect(await workload('describe', 'service', 'web')).toContain('Ensured load balancer');
    const name = ['-n', 'kube-system', 'logs', '-l', 'k8s-app=openstack-cloud-controller-manager', '--tail=-1'];
    expect(await workload(...name)).toContain('Ensuring load balancer for service default/web');
    await workload('delete', 'service', 'web', '--timeout=90s');
  }, 240_000);

  it('kubectl top shows figures once metrics-server runs', async () => {
    await install('metrics-server', '3.13.0', { args: ['--kubelet-insecure-tls'] });
    await workload('-n', 'kube-system', 'rollout', 'status', 'deployment/metrics-server', '--timeout=120s');
    await eventually(async () => {
      const lines = (await workload('top', 'nodes', '--no-headers')).trim().split('\n');
      expect(lines).toHaveLength(3);
      for (const line of lines) expect(line).toMatch(/ \d+m +\d+% +\d+Mi +\d+%/);
    }, patienceMs);
    expect(await workload('top', 'pods', '-n', 'kube-system', '--no-headers')).toMatch(
      /metrics-server-\S+ +\d+m +\d+Mi/,
    );
    await workload('wait', 'apiservice/v1beta1.metrics.k8s.io', '--for=condition=Available', '--timeout=60s');
  }, 240_000);

  it('nothing of the add-ons is left when claims and cluster are deleted', async () => {
    await workload('delete', 'pod', 'writer', '--timeout=60s');
    await workload('delete', 'pvc', 'data', '--timeout=60s');
    await eventually(async () => {
      expect((await cinderVolumes()).filter((name) => name.startsWith('pvc-'))).toEqual([]);
    }, patienceMs);
    await house.kubectl('delete', 'cluster', 'vm-cluster', '--wait', '--timeout=120s');
    expect(await house.cloud.inventory()).toEqual(house.before);
  }, 240_000);
});
