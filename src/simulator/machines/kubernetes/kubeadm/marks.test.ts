import { describe, expect, it } from 'vitest';
import { controlPlaneMarks, controlPlaneTolerations } from './marks.ts';

describe('marks of control plane Nodes', () => {
  it.each([
    [19, ['master'], ['master'], ['master']],
    [20, ['master', 'control-plane'], ['master'], ['master', 'control-plane']],
    [23, ['master', 'control-plane'], ['master'], ['master', 'control-plane']],
    [24, ['control-plane'], ['master', 'control-plane'], ['master', 'control-plane']],
    [25, ['control-plane'], ['control-plane'], ['control-plane']],
  ])('are those of kubeadm 1.%i', (minor, roles, tainted, tolerated) => {
    const role = (key: string): string[] =>
      key.startsWith('node-role.kubernetes.io/') ? [key.slice('node-role.kubernetes.io/'.length)] : [];
    const { labels, taints } = controlPlaneMarks({ minor });
    expect(labels.flatMap(role)).toEqual(roles);
    expect(taints.flatMap(({ key }) => role(key))).toEqual(tainted);
    expect(controlPlaneTolerations({ minor }).flatMap(({ key }) => role(key))).toEqual(tolerated);
  });

  it('keep load balancers away from 1.21 on', () => {
    const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';
    expect(controlPlaneMarks({ minor: 20 }).labels).not.toContain(excluded);
    expect(controlPlaneMarks({ minor: 21 }).labels).toContain(excluded);
  });
});
