import { afterEach, describe, expect, it } from 'vitest';
import { ConfigMaps, type Secret, Secrets } from '../../api/index.ts';
import { type EmbeddedWorld, embeddedWorld } from '../testing/embedded-world.ts';
import { clusterInfoSigner, detachedSignature } from './cluster-info-signer.ts';
import { bootstrapTokenCleaner } from './token-cleaner.ts';

const by = { fieldManager: 'test' };
const minute = 60_000;
const kubeconfig = 'apiVersion: v1\nkind: Config\n';

let world: EmbeddedWorld;
afterEach(() => world.stop());

async function begin(): Promise<void> {
  world = await embeddedWorld({ controllers: () => [bootstrapTokenCleaner(), clusterInfoSigner()] });
}

const inMinutes = (count: number): string => new Date(world.clock.now() + count * minute).toISOString();

async function createToken(id: string, more: Record<string, string> = {}, type = 'bootstrap.kubernetes.io/token') {
  await world.client.create(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
      type,
      stringData: {
        'token-id': id,
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-signing': 'true',
        ...more,
      },
    } as Secret,
    by,
  );
}

const tokenExists = async (id: string): Promise<boolean> =>
  (await world.find(Secrets, `bootstrap-token-${id}`, 'kube-system')) !== undefined;

describe('the token cleaner', () => {
  it('deletes tokens that have expired, and no others', async () => {
    await begin();
    await createToken('aaaaaa', { expiration: inMinutes(10) });
    await createToken('bbbbbb', { expiration: inMinutes(30) });
    await createToken('cccccc');
    await createToken('dddddd', { expiration: inMinutes(-1) }, 'Opaque');
    await world.until(async () => !(await tokenExists('aaaaaa')), 11 * minute);
    expect(await tokenExists('bbbbbb')).toBe(true);
    await world.until(async () => !(await tokenExists('bbbbbb')), 21 * minute);
    await world.clock.advance(24 * 60 * minute);
    expect(await tokenExists('cccccc')).toBe(true);
    expect(await tokenExists('dddddd')).toBe(true);
  });

  it('treats an expiry it cannot read as long past', async () => {
    await begin();
    await createToken('aaaaaa', { expiration: '2099-01-01' });
    await world.soon(async () => !(await tokenExists('aaaaaa')));
  });

  it('keeps a token whose expiry was moved', async () => {
    await begin();
    await createToken('aaaaaa', { expiration: inMinutes(10) });
    const key = { namespace: 'kube-system', name: 'bootstrap-token-aaaaaa' };
    await world.client.patch(Secrets, key, 'merge', { stringData: { expiration: inMinutes(60) } }, by);
    await world.clock.advance(20 * minute);
    expect(await tokenExists('aaaaaa')).toBe(true);
  });
});

describe('the signer of cluster-info', () => {
  const createInfo = (data: Record<string, string>): Promise<unknown> =>
    world.client.create(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cluster-info', namespace: 'kube-public' }, data },
      by,
    );
  const signatures = async (): Promise<Record<string, string>> => {
    const { data = {} } = (await world.find(ConfigMaps, 'cluster-info', 'kube-public')) ?? {};
    return Object.fromEntries(Object.entries(data).filter(([key]) => key !== 'kubeconfig'));
  };
  const signed = (id: string, content = kubeconfig): string =>
    detachedSignature(content, { id, secret: '0123456789abcdef' });

  it('signs with every token meant for it and removes signatures without a token', async () => {
    await begin();
    await createToken('aaaaaa');
    await createToken('bbbbbb', { 'usage-bootstrap-signing': 'false' });
    await createToken('cccccc', { expiration: inMinutes(-1) });
    await createInfo({ kubeconfig, 'jws-kubeconfig-zzzzzz': 'old' });
    const only = (id: string): string => JSON.stringify({ [`jws-kubeconfig-${id}`]: signed(id) });
    await world.soon(async () => JSON.stringify(await signatures()) === only('aaaaaa'));
    await createToken('dddddd');
    await world.soon(async () => Object.keys(await signatures()).length === 2);
    await world.client.delete(Secrets, { namespace: 'kube-system', name: 'bootstrap-token-aaaaaa' });
    await world.soon(async () => JSON.stringify(await signatures()) === only('dddddd'));
  });

  it('signs again when the content changes', async () => {
    await begin();
    await createToken('aaaaaa');
    await createInfo({ kubeconfig });
    await world.soon(async () => (await signatures())['jws-kubeconfig-aaaaaa'] === signed('aaaaaa'));
    const key = { namespace: 'kube-public', name: 'cluster-info' };
    await world.client.patch(ConfigMaps, key, 'merge', { data: { kubeconfig: 'other' } }, by);
    await world.soon(async () => (await signatures())['jws-kubeconfig-aaaaaa'] === signed('aaaaaa', 'other'));
  });

  it('signs nothing when there is nothing to sign', async () => {
    await begin();
    await createToken('aaaaaa');
    await createInfo({ other: 'x' });
    await world.clock.advance(minute);
    expect(await signatures()).toEqual({ other: 'x' });
  });

  it('writes signatures in the form kubeadm reads', () => {
    // Computed by kube-controller-manager 1.34.4 for the same content and token.
    expect(detachedSignature('content\n', { id: 'abcdef', secret: '0123456789abcdef' })).toBe(
      'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..xkPhz9qtNRQXCP_XEz8Is8VscWZrJTQNmIw5ldJ_3kk',
    );
  });
});
