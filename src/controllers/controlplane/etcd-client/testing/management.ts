import { Secrets } from '../../../../api/index.ts';
import type { Client, ObjectKey } from '../../../../client/index.ts';
import { seededRandom, systemClock } from '../../../../machinery/index.ts';
import type { createAuthority } from '../../../../pki/index.ts';
import { memoryClient } from '../../../../runtime/testkit/index.ts';

/** Builds a management API with the etcd CA in a Secret. */
export async function managementWith(
  authority: Awaited<ReturnType<typeof createAuthority>>,
  { namespace = '', name }: ObjectKey,
): Promise<Client> {
  const client = memoryClient({ clock: systemClock, random: seededRandom(1) });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const data = { 'tls.crt': base64(authority.certificate), 'tls.key': base64(authority.privateKey) };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data };
  await client.create(Secrets, secret, { fieldManager: 'test' });
  return client;
}
