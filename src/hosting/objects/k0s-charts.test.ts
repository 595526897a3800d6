import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../machinery/index.ts';
import { k0smotronPlaneSpec } from '../testing/specs.ts';
import { unsuitableCharts } from './k0s-charts.ts';

const problems = (chart: JsonObject): readonly string[] => {
  const config = { spec: { extensions: { helm: { charts: [chart] } } } };
  const desired = k0smotronPlaneSpec();
  return unsuitableCharts({ k0s: { ...desired.k0s!, config } });
};
const csi = (values?: string): JsonObject => ({
  chartname: 'openstack/openstack-cinder-csi',
  name: 'openstack-csi',
  ...(values !== undefined && { values }),
});

describe('charts of a k0s configuration', () => {
  it.each([
    ['without values', csi()],
    ['of another kubelet', csi('csi: {plugin: {nodePlugin: {kubeletDir: /var/lib/kubelet}}}')],
  ])('warns about charts that mount volumes %s and names the k0s directory', (_, chart) => {
    expect(problems(chart)).toEqual([
      'chart openstack-csi looks for kubelets in /var/lib/kubelet, but those of k0s are in /var/lib/k0s/kubelet, so that no volume would be mounted; set csi.plugin.nodePlugin.kubeletDir in its values',
    ]);
  });

  it.each([
    ['with the right directory', csi('csi: {plugin: {nodePlugin: {kubeletDir: /var/lib/k0s/kubelet}}}')],
    ['that mount nothing', { chartname: 'openstack/openstack-cloud-controller-manager', name: 'ccm' }],
    ['without a name', {}],
  ])('does not warn about charts %s', (_, chart) => {
    expect(problems(chart)).toEqual([]);
  });

  it('finds no charts without a configuration', () => {
    expect(unsuitableCharts({})).toEqual([]);
  });
});
