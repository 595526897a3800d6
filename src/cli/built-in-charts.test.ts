import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject, KubeObject } from '../machinery/index.ts';
import { loadChart, renderChart } from '../template/index.ts';
import { builtInChart, builtInChartNames, builtInChartVersions } from './built-in-charts.ts';

function render(name: string, version: string, values: JsonObject = {}): KubeObject[] {
  const chart = loadChart(builtInChart(name, version));
  if (!chart.ok) throw chart.error;
  const rendered = renderChart({ chart: chart.value, values, release: { name, namespace: 'kube-system' } });
  if (!rendered.ok) throw rendered.error;
  return rendered.value.objects.map(({ object }) => object);
}

interface Workload extends KubeObject {
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        nodeSelector?: Record<string, string>;
        containers: { name: string; image: string; args?: string[]; env?: { name: string; value?: string }[] }[];
      };
    };
  };
}

function workload(objects: readonly KubeObject[], kind: string, name: string): Workload {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found as Workload;
}

const all = builtInChartNames().flatMap((name) =>
  builtInChartVersions(name).map((version) => [name, version] as const),
);

describe('built-in charts', () => {
  it('are those of the four add-ons', () => {
    expect(builtInChartNames()).toEqual([
      'cilium',
      'metrics-server',
      'openstack-cinder-csi',
      'openstack-cloud-controller-manager',
    ]);
  });

  it.each(all)('%s %s renders with its default values like that release', (name, version) => {
    const files = builtInChart(name, version);
    const metadata = parse(Buffer.from(files.get('Chart.yaml')!).toString()) as { version: string };
    expect(metadata.version).toBe(version);
    const objects = render(name, version);
    expect(objects.length).toBeGreaterThan(4);
    // A label such as helm.sh/chart with another version means that a row was not applied.
    expect(JSON.stringify(objects)).not.toMatch(new RegExp(`${name}-(?!${version.replaceAll('.', '\\.')})\\d+\\.\\d+`));
  });

  it('have the newest release in their directories', () => {
    for (const name of builtInChartNames()) {
      const newest = builtInChart(name, builtInChartVersions(name).at(-1));
      expect([...builtInChart(name)].map(([path, text]) => [path, Buffer.from(text).toString()])).toEqual(
        [...newest].map(([path, text]) => [path, Buffer.from(text).toString()]),
      );
    }
  });

  it('refuse an unknown name or version and list the available ones', () => {
    expect(() => builtInChart('nginx', '1.0.0')).toThrow('does not include a chart nginx');
    expect(() => builtInChart('cilium', '9.9.9')).toThrow('does not include version 9.9.9');
  });

  it('read the Cinder configuration from the path of their release', () => {
    const conf = (version: string): string | undefined =>
      workload(render('openstack-cinder-csi', version), 'Deployment', 'openstack-cinder-csi-controllerplugin')
        .spec.template.spec.containers.at(-1)
        ?.env?.find(({ name }) => name === 'CLOUD_CONFIG')?.value;
    expect(conf('2.32.2')).toBe('/etc/kubernetes/cloud.conf');
    expect(conf('2.33.1')).toBe('/etc/config/cloud.conf');
  });

  it('set another label on the node plugins of Cinder and in the DaemonSet selector when the values say so', () => {
    const values = { csi: { plugin: { nodePlugin: { appLabel: 'cinder-csi' } } } };
    const objects = render('openstack-cinder-csi', '2.33.1', values);
    const nodes = workload(objects, 'DaemonSet', 'openstack-cinder-csi-nodeplugin').spec;
    expect(nodes.selector.matchLabels['app']).toBe('cinder-csi');
    expect(nodes.template.metadata.labels['app']).toBe('cinder-csi');
    const controller = workload(objects, 'Deployment', 'openstack-cinder-csi-controllerplugin').spec;
    expect(controller.template.metadata.labels['app']).toBe('openstack-cinder-csi');
  });

  it('drop the node selector of the cloud controller manager when its value is null', () => {
    const daemonSet = (values: JsonObject): Workload =>
      workload(
        render('openstack-cloud-controller-manager', '2.31.1', values),
        'DaemonSet',
        'openstack-cloud-controller-manager',
      );
    expect(daemonSet({}).spec.template.spec.nodeSelector).toEqual({ 'node-role.kubernetes.io/control-plane': '' });
    expect(daemonSet({ nodeSelector: null }).spec.template.spec.nodeSelector).toBeUndefined();
  });

  it.each([
    ['cilium', '1.18.1', { nosuch: true }, /nosuch/],
    ['cilium', '1.18.1', { gatewayAPI: { enabled: true } }, /brings no gateway controller/],
    ['cilium', '1.18.1', { routingMode: 'native' }, /ipv4NativeRoutingCIDR/],
    ['cilium', '1.19.1', { ipam: { mode: 'eni' } }, /neither cluster-pool nor kubernetes/],
    ['metrics-server', '3.13.0', { tls: { type: 'helm' } }, /tls\.type/],
    ['metrics-server', '3.13.0', { addonResizer: { enabled: true } }, /does not bring the resizer/],
  ])('%s %s refuses %j with a readable message', (name, version, values, words) => {
    expect(() => render(name, version, values as JsonObject)).toThrow(words);
  });

  it('have in the schema of Cilium exactly the keys of its values', () => {
    const files = builtInChart('cilium');
    const schema = JSON.parse(Buffer.from(files.get('values.schema.json')!).toString()) as JsonObject;
    const values = parse(Buffer.from(files.get('values.yaml')!).toString()) as JsonObject;
    const compare = (part: JsonObject, given: JsonObject, path: string): void => {
      const { properties } = part as { properties?: Record<string, JsonObject> };
      if (!properties) return;
      const known = Object.keys(properties).filter((key) => key !== 'global');
      expect(known.sort(), path).toEqual(Object.keys(given).sort());
      for (const key of known) compare(properties[key]!, (given[key] ?? {}) as JsonObject, `${path}.${key}`);
    };
    compare(schema, values, 'values');
  });
});
