import { describe, expect, it } from 'vitest';
import { Secrets } from '../../../api/index.ts';
import { createInformerFactory, memoryClient } from '../../../client/index.ts';
import { ManualClock, seededRandom } from '../../../machinery/index.ts';
import { type Credentials, createCredentials, type UsedCredentials } from './credentials.ts';

const namespace = 'team';
const identity = { name: 'cloud', cloudName: 'openstack' };

describe('credentials of a cluster that is deleted together with them', () => {
  const clock = new ManualClock(0);
  const random = seededRandom(1);
  const client = memoryClient({ clock });
  const begin = (used: UsedCredentials): Credentials =>
    createCredentials({ client, clock, random, cache: createInformerFactory({ client, clock, random }), used });

  it('still serve for the deletion after the lease was lost, and for nothing else', async () => {
    const data = { 'clouds.yaml': Buffer.from('clouds: {}').toString('base64') };
    const metadata = { name: 'cloud', namespace };
    client.seed(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data });
    const used: UsedCredentials = new Map();
    expect((await begin(used).read(identity, namespace, {})).cloudsYaml).toBe('clouds: {}');
    await client.delete(Secrets, metadata);
    const again = begin(used);
    expect((await again.read(identity, namespace, { leaving: true })).cloudsYaml).toBe('clouds: {}');
    await expect(again.read(identity, namespace, {})).rejects.toThrow('Secret team/cloud does not exist');
    await expect(begin(new Map()).read(identity, namespace, { leaving: true })).rejects.toThrow('does not exist');
  });
});
