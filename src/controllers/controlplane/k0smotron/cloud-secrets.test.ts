import { describe, expect, it } from 'vitest';
import { Secrets } from '../../../api/index.ts';
import { ManualClock, seededRandom } from '../../../machinery/index.ts';
import { memoryClient } from '../../../runtime/testkit/index.ts';
import { secretText } from '../../shared/index.ts';
import { completeSecrets, expectedSecrets } from './cloud-secrets.ts';

const chart = (values: string, namespace?: string) => ({ name: 'x', values, ...(namespace && { namespace }) });
const configOf = (...charts: object[]) => ({
  k0sConfig: { spec: { extensions: { helm: { charts } } } } as never,
});

describe('Secrets expected by charts', () => {
  it.each([
    ['nobody', {}, []],
    ['a chart that makes its own', configOf(chart('secret: {name: a, create: true}')), []],
    ['a chart without values that can be read', configOf(chart('a: [')), []],
    [
      'two charts, once each',
      configOf(chart('secret: {name: a, create: false}'), chart('secret: {name: a, create: false}', 'kube-system')),
      [{ namespace: 'kube-system', name: 'a' }],
    ],
    ['a chart elsewhere', configOf(chart('secret: {name: a, create: false}', 'b')), [{ namespace: 'b', name: 'a' }]],
  ])('are found for: %s', (_, spec, expected) => {
    expect(expectedSecrets(spec)).toEqual(expected);
  });
});

describe('credentials created by users', () => {
  const key = { namespace: 'kube-system', name: 'a' };
  const signal = new AbortController().signal;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const setting = async (data?: Record<string, string>) => {
    const client = memoryClient({ clock: new ManualClock(), random: seededRandom(1) });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key, ...(data && { data }) };
    if (data) await client.create(Secrets, secret, { fieldManager: 'test' });
    return client;
  };
  const clouds = base64(
    'clouds: {mine: {auth: {auth_url: "http://x/v3", username: u, password: p, user_domain_name: d}}}',
  );

  it('are completed with cloud.conf', async () => {
    const client = await setting({ 'clouds.yaml': clouds });
    expect(await completeSecrets(client, [key], signal)).toBe(true);
    const stored = await client.get(Secrets, key);
    expect(secretText(stored, 'cloud.conf')).toContain('auth-url=http://x/v3');
    expect(stored.data?.['clouds.yaml']).toBe(clouds);
  });

  it.each<[string, Record<string, string> | undefined, boolean]>([
    ['missing', undefined, false],
    ['in both forms already', { 'clouds.yaml': clouds, 'cloud.conf': base64('mine') }, true],
    ['of another kind', { token: base64('x') }, true],
    ['that name no cloud', { 'clouds.yaml': base64('nothing') }, false],
    ['that open no cloud', { 'clouds.yaml': base64('clouds: {mine: {auth: {username: u}}}') }, false],
  ])('%s stay unchanged', async (_, data, isComplete) => {
    const client = await setting(data);
    const writes = client.writes().length;
    expect(await completeSecrets(client, [key], signal)).toBe(isComplete);
    expect(client.writes()).toHaveLength(writes);
  });
});
