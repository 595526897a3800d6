import { describe, expect, it } from 'vitest';
import type { CloudConfig } from '../config/cloud-config.ts';
import { authRequest } from './auth-request.ts';

const named = { name: 'u', domain: { name: 'D' } };

describe('authRequest', () => {
  it.each<[string, Pick<CloudConfig, 'credential' | 'scope'>, object]>([
    [
      'a password for a project',
      {
        credential: { method: 'password', user: named, password: 'x' },
        scope: { kind: 'project', project: { name: 'p', domain: { id: 'd' } } },
      },
      {
        identity: { methods: ['password'], password: { user: { name: 'u', domain: { name: 'D' }, password: 'x' } } },
        scope: { project: { name: 'p', domain: { id: 'd' } } },
      },
    ],
    [
      'a token for a domain',
      { credential: { method: 'token', token: 't' }, scope: { kind: 'domain', domain: { id: 'd' } } },
      { identity: { methods: ['token'], token: { id: 't' } }, scope: { domain: { id: 'd' } } },
    ],
    [
      'an application credential by id',
      { credential: { method: 'applicationCredential', id: 'i', secret: 's' }, scope: { kind: 'none' } },
      { identity: { methods: ['application_credential'], application_credential: { id: 'i', secret: 's' } } },
    ],
    [
      'an application credential by name',
      {
        credential: { method: 'applicationCredential', name: 'n', user: { id: 'u' }, secret: 's' },
        scope: { kind: 'none' },
      },
      {
        identity: {
          methods: ['application_credential'],
          application_credential: { name: 'n', user: { id: 'u' }, secret: 's' },
        },
      },
    ],
    [
      'the system',
      { credential: { method: 'password', user: { id: 'u' }, password: 'x' }, scope: { kind: 'system' } },
      {
        identity: { methods: ['password'], password: { user: { id: 'u', password: 'x' } } },
        scope: { system: { all: true } },
      },
    ],
    [
      'a trust',
      { credential: { method: 'password', user: { id: 'u' }, password: 'x' }, scope: { kind: 'trust', trustId: 't' } },
      {
        identity: { methods: ['password'], password: { user: { id: 'u', password: 'x' } } },
        scope: { 'OS-TRUST:trust': { id: 't' } },
      },
    ],
  ])('builds a request with %s', (_what, config, auth) => {
    expect(authRequest(config)).toEqual({ auth });
  });
});
