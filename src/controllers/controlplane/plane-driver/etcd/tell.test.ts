import { describe, expect, it } from 'vitest';
import type { PersistentVolumeClaim } from '../../../../api/index.ts';
import type { ObjectKey } from '../../../../client/index.ts';
import { hostedNaming } from '../../../../hosting/index.ts';
import type { EtcdScope } from './drive.ts';
import { unboundClaim } from './report.ts';

const scopeWith = (claim: Partial<PersistentVolumeClaim>): EtcdScope => {
  const get = ({ name }: ObjectKey) => (name === 'etcd-data-c1-etcd-1' ? claim : { status: { phase: 'Bound' } });
  const context = { cache: { lister: () => ({ get }) } };
  return {
    context,
    desired: { identity: { namespace: 'default' }, naming: hostedNaming('c1') },
  } as unknown as EtcdScope;
};

describe('an etcd member without a volume', () => {
  it.each<[string, Partial<PersistentVolumeClaim>, string | undefined]>([
    [
      'because no StorageClass is the default one',
      { status: { phase: 'Pending' } },
      'PersistentVolumeClaim etcd-data-c1-etcd-1 is not bound: no StorageClass is the default one; name one for the volumes of etcd, or make one the default',
    ],
    [
      'because its StorageClass makes none',
      { spec: { storageClassName: 'fast' }, status: { phase: 'Pending' } },
      'PersistentVolumeClaim etcd-data-c1-etcd-1 is not bound: StorageClass fast has not made a volume; look at the events of the claim',
    ],
    ['no longer', { status: { phase: 'Bound' } }, undefined],
  ])('is reported: %s', (_, claim, message) => {
    expect(unboundClaim(scopeWith(claim))).toBe(message);
  });
});
