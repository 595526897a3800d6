import { describe, expect, it } from 'vitest';
import type { K0smotronCluster, K0smotronControlPlane } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { aliasServiceName } from './family.ts';

describe('the second Service name of a plane', () => {
  const aliasOf = (name: string): string | undefined => {
    const plane = {
      metadata: { name: 'plane', namespace: 'ns' },
      spec: { service: { type: 'LoadBalancer' } },
    } as K0smotronCluster;
    const nothing = { lister: () => ({ get: () => undefined }) } as unknown as ReconcileContext['cache'];
    return aliasServiceName({ cache: nothing }, plane, { metadata: { name } } as K0smotronControlPlane);
  };

  it('is the name of the control plane', () => {
    expect(aliasOf('edge-cp')).toBe('edge-cp');
  });

  it.each(['9edge-cp', 'edge.a-cp', `${'e'.repeat(61)}-cp`])(
    'is omitted when %s is not a valid Service name',
    (name) => {
      expect(aliasOf(name)).toBeUndefined();
    },
  );
});
