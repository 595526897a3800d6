import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../api/index.ts';
import { asTyped } from '../../machinery/index.ts';
import { factsOf, hostedPlaneSpec } from '../testing/specs.ts';
import { auditRelayConfig, auditTargetProblem } from './audit-relay.ts';
import { planeObjects } from './index.ts';

describe('an audit log with several targets', () => {
  it('passes the log on to all targets, each with its own token', () => {
    const text = auditRelayConfig([
      { server: 'https://a.example.org/in', token: 'one' },
      { server: 'http://b.example.org:8080' },
      { server: 'https://c.example.org', token: 'three' },
    ]);
    expect(text.match(/mirror \S+;/g)).toEqual(['mirror /to/1;', 'mirror /to/2;']);
    expect(text.match(/proxy_pass \S+;/g)).toEqual([
      'proxy_pass https://a.example.org/in;',
      'proxy_pass http://b.example.org:8080/;',
      'proxy_pass https://c.example.org/;',
    ]);
    expect(text.match(/Bearer \w+/g)).toEqual(['Bearer one', 'Bearer three']);
    expect(text.split('{').length).toBe(text.split('}').length);
  });

  it.each<[string, string | undefined, boolean]>([
    ['https://a.example.org', undefined, true],
    ['https://a.example.org', 'eyJ.a-b_c~+/=', true],
    ['ftp://a.example.org', undefined, false],
    ['https://a.example.org/;} evil', undefined, false],
    ['https://a.example.org/$host', undefined, false],
    ['https://a.example.org', 'two words', false],
    ['https://a.example.org', '$secret', false],
  ])('checks the audit target %s with the token %s', (server, token, isFine) => {
    const problem = auditTargetProblem({ server, ...(token !== undefined && { token }) });
    expect(problem === undefined).toBe(isFine);
  });

  it('puts the relay beside the API server and nowhere else', () => {
    const audit = {
      policy: {},
      mode: 'batch' as const,
      webhook: { secretName: 'c-audit-webhook', relayImage: 'nginx:1.27.4' },
    };
    const base = hostedPlaneSpec();
    const desired = { ...base, apiServer: { ...base.apiServer, audit } };
    const sets = planeObjects(desired, factsOf(desired)).controlPlane.filter(({ kind }) => kind === 'Deployment');
    const containers = sets.map((set) =>
      asTyped<Deployment>(set).spec?.template?.spec?.containers?.map(({ name }) => name),
    );
    expect(containers.filter((names) => names?.includes('audit-relay'))).toEqual([
      expect.arrayContaining(['kube-apiserver', 'audit-relay']),
    ]);
  });
});
