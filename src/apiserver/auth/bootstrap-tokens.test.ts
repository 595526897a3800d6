import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../machinery/index.ts';
import { bootstrapTokenAuthenticator, type SecretObject } from './bootstrap-tokens.ts';

const clock = new ManualClock(Date.UTC(2026, 0, 1));
const good = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};

function outcome(data: Record<string, string>, changes: Partial<SecretObject> = {}, token = 'abcdef.0123456789abcdef') {
  const secret: SecretObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
    ...changes,
  };
  const lookup = (name: string) => (name === secret.metadata.name ? secret : undefined);
  return bootstrapTokenAuthenticator({ secret: lookup, clock })(token);
}

describe('bootstrap tokens', () => {
  it('authenticate the user system:bootstrap:<id>', () => {
    expect(outcome(good)).toEqual({ user: { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] } });
  });

  it('may add groups below system:bootstrappers', () => {
    const extra = 'system:bootstrappers:kubeadm:default-node-token,system:bootstrappers:a';
    expect(outcome({ ...good, 'auth-extra-groups': extra })).toMatchObject({
      user: {
        groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:kubeadm:default-node-token'],
      },
    });
  });

  it.each<[string, Parameters<typeof outcome>]>([
    ['another secret half', [good, {}, 'abcdef.0123456789abcdee']],
    ['another form', [good, {}, 'abcdef.short']],
    ['an unknown id', [good, {}, 'aaaaaa.0123456789abcdef']],
    ['another id inside', [{ ...good, 'token-id': 'xxxxxx' }]],
    ['another type', [good, { type: 'Opaque' }]],
    ['no data', [good, { data: null }]],
    [
      'deletion under way',
      [good, { metadata: { name: 'bootstrap-token-abcdef', deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ],
    ['another purpose', [{ ...good, 'usage-bootstrap-authentication': 'false' }]],
    ['groups that are not for bootstrapping', [{ ...good, 'auth-extra-groups': 'system:masters' }]],
    ['an expiry in the past', [{ ...good, expiration: '2025-12-31T23:59:59Z' }]],
    ['an expiry that is no date', [{ ...good, expiration: 'soon' }]],
    ['an expiry without a time', [{ ...good, expiration: '2099-01-01' }]],
  ])('are refused with %s', (_, parameters) => {
    expect(outcome(...parameters)).toBeUndefined();
  });

  it('are accepted until they expire', () => {
    expect(outcome({ ...good, expiration: '2026-01-01T00:00:01Z' })).toHaveProperty('user');
  });
});
