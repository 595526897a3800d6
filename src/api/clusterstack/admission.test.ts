import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../machinery/index.ts';
import { clusterAddonStrategy, clusterStackStrategy } from './admission.ts';
import type { ClusterAddon, ClusterStack } from './types.ts';

/** Incomplete objects that other programs may have stored, and common mistakes. */
const bare = <T>(kind: string): T =>
  ({ apiVersion: 'clusterstack.x-k8s.io/v1alpha1', kind, metadata: { name: 'a', namespace: 'b' } }) as T;

const context = { nowMs: 0, random: systemRandom, user: 'somebody' };

describe('a ClusterStack or ClusterAddon without a spec', () => {
  it('is refused on create', () => {
    const stack = bare<ClusterStack>('ClusterStack');
    expect(clusterStackStrategy.validateCreate?.(stack, context)).toMatchObject([{ field: 'spec', type: 'Required' }]);
    const addon = bare<ClusterAddon>('ClusterAddon');
    expect(clusterAddonStrategy.validateCreate?.(addon, context)).toMatchObject([{ field: 'spec', type: 'Required' }]);
  });

  it('accepts a spec that is added on update, and refuses its removal', () => {
    const spec = { provider: 'openstack', name: 'x', kubernetesVersion: '1.33', noProvider: true };
    const stack = { ...bare<ClusterStack>('ClusterStack'), spec };
    expect(clusterStackStrategy.validateUpdate?.(stack, bare('ClusterStack'), context)).toEqual([]);
    expect(clusterStackStrategy.validateUpdate?.(bare('ClusterStack'), stack, context)).toMatchObject([
      { field: 'spec' },
    ]);
  });
});
