import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../machinery/index.ts';
import { created, defaulted, make, refusedBySchema, strategyOf } from '../admission.test-support.ts';

const config = (clientConfig: JsonObject, metadata: object = {}): UnstructuredObject =>
  make('ExtensionConfig', { clientConfig }, metadata);
const service = { namespace: 'ext', name: 'hooks' };

describe('an ExtensionConfig', () => {
  it.each<[string, JsonObject, string[]]>([
    ['a url', { url: 'https://hooks.example:8443/v1' }, []],
    ['a service', { service: { ...service, path: '/hooks', port: 8443 } }, []],
    ['neither', { caBundle: 'eA==' }, ['spec.clientConfig: Required value: either url or service must be defined']],
    [
      'both',
      { url: 'https://hooks.example', service },
      ['spec.clientConfig: Forbidden: only one of url or service can be defined'],
    ],
    [
      'http',
      { url: 'http://hooks.example' },
      [
        'spec.clientConfig.url: Invalid value: "http://hooks.example": \'https\' is the only allowed URL scheme, e.g. https://example.com',
      ],
    ],
    [
      'something that is no URL',
      { url: 'hooks' },
      ['spec.clientConfig.url: Invalid value: "hooks": must be a valid URL, e.g. https://example.com'],
    ],
    [
      'a password',
      { url: 'https://me:secret@hooks.example' },
      ['spec.clientConfig.url: Forbidden: user information is not permitted in the URL'],
    ],
    [
      'a query and a fragment',
      { url: 'https://hooks.example/?a=b#c' },
      [
        'spec.clientConfig.url: Invalid value: "https://hooks.example/?a=b#c": query parameters are not permitted in the URL',
        'spec.clientConfig.url: Invalid value: "https://hooks.example/?a=b#c": fragments are not permitted in the URL',
      ],
    ],
    [
      'a relative path and no port',
      { service: { ...service, path: 'hooks', port: 0 } },
      [
        'spec.clientConfig.service.path: Invalid value: "hooks": must start with "/" to be a valid URL path',
        'spec.clientConfig.service.port: Invalid value: 0: must be between 1 and 65535, inclusive',
      ],
    ],
  ])('is validated with %s', (_, clientConfig, expected) => {
    expect(created(config(clientConfig))).toEqual(expected);
  });

  it('must set clientConfig', () => {
    expect(refusedBySchema(config({}))).toHaveLength(1);
  });

  it('defaults to all namespaces and port 443', () => {
    expect(defaulted(config({ service })).spec).toEqual({
      clientConfig: { service: { ...service, port: 443 } },
      namespaceSelector: {},
    });
  });

  it('is refused with a dot in its name', () => {
    const { validateName } = strategyOf('ExtensionConfig');
    expect(validateName!('first')).toEqual([]);
    expect(validateName!('first.second')).toEqual([
      'ExtensionConfig name should be a valid DNS1123 label name: must not contain dots',
    ]);
  });

  it('is refused when inject-ca-from-secret lacks the namespace', () => {
    const annotations = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'hooks-tls' };
    expect(created(config({ url: 'https://hooks.example' }, { annotations }))).toEqual([
      'metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret]: Invalid value: "hooks-tls": must be in the form <namespace>/<name>',
    ]);
  });
});
