import { connect, constants } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InProcessServer, startInProcess } from '../../support/rough/in-process-server.ts';
import { http1Client, http2Client, type JsonAnswer, sendJson, type WireClient } from '../../support/rough/wire.ts';

let server: InProcessServer;
let client: WireClient;

beforeAll(async () => {
  server = await startInProcess();
  client = http1Client(server.admin);
});

afterAll(async () => {
  client.close();
  await server.stop();
});

const core = '/api/v1/namespaces/default';
const clusterApi = '/apis/cluster.x-k8s.io';
const scaling = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const jsonPatch = 'application/json-patch+json';
const applyPatch = 'application/apply-patch+yaml';

function configMap(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more };
}

function autoscaler(name: string, more: object): object {
  return { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name, ...more } };
}

function machineSet(version: string, name: string, selector: unknown): object {
  const spec = {
    clusterName: 'c',
    selector,
    template: { spec: { clusterName: 'c', bootstrap: {}, infrastructureRef: { kind: 'X', name: 'x' } } },
  };
  return { apiVersion: `cluster.x-k8s.io/${version}`, kind: 'MachineSet', metadata: { name }, spec };
}

interface Case {
  what: string;
  method: string;
  path: string;
  body?: unknown;
  headers?: [string, string][];
  status: number;
  message?: RegExp;
}

/** Requests that once made the server fail, hang or corrupt its state. */
const cases: Case[] = [
  {
    what: 'a media type called like an inherited member',
    method: 'GET',
    path: `${core}/configmaps`,
    headers: [['accept', 'constructor']],
    status: 406,
  },
  {
    what: 'the media type __proto__',
    method: 'GET',
    path: `${core}/configmaps/x`,
    headers: [['accept', '__proto__']],
    status: 406,
  },
  {
    what: 'a patch type called like an inherited member',
    method: 'PATCH',
    path: `${core}/configmaps/held`,
    body: {},
    headers: [['content-type', 'constructor']],
    status: 415,
  },
  {
    what: 'a selector on an inherited member',
    method: 'GET',
    path: `${core}/pods?fieldSelector=constructor%3Dx`,
    status: 400,
    message: /field label not supported/,
  },
  {
    what: 'a continue token of the future',
    method: 'GET',
    path: `${core}/pods?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":99999999,"start":"a"}').toString('base64url')}`,
    status: 400,
  },
  {
    what: 'a kind that is an object which cannot be printed',
    method: 'POST',
    path: `${core}/configmaps`,
    body: { apiVersion: 'v1', kind: { toString: 1 } },
    status: 400,
    message: /cannot unmarshal object into Go struct field \.kind of type string/,
  },
  {
    what: 'delete options of the wrong type',
    method: 'DELETE',
    path: `${core}/configmaps/held`,
    body: { preconditions: { uid: 5 } },
    status: 400,
  },
  {
    what: 'a propagation policy that cannot be printed',
    method: 'DELETE',
    path: `${core}/configmaps/held`,
    body: { propagationPolicy: { toString: 1 } },
    status: 400,
  },
  {
    what: 'delete options that are no object',
    method: 'DELETE',
    path: `${core}/configmaps/held`,
    body: 'now',
    status: 400,
  },
  {
    what: 'a definition without spec',
    method: 'POST',
    path: definitions,
    body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'a.b.c' } },
    status: 422,
  },
  {
    what: 'a definition in the group where built-in objects are kept',
    method: 'POST',
    path: definitions,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'secrets.core' },
      spec: {
        group: 'core',
        scope: 'Namespaced',
        names: { plural: 'secrets', kind: 'Secret' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
    status: 422,
  },
  {
    what: 'a null among the items of a list',
    method: 'POST',
    path: `${core}/limitranges`,
    body: { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [null] } },
    status: 422,
  },
  {
    what: 'a token request of the wrong type',
    method: 'POST',
    path: `${core}/serviceaccounts/robot/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 'x' } },
    status: 400,
    message: /TokenRequest in version "v1" cannot be handled/,
  },
  { what: 'an old autoscaler without spec', method: 'POST', path: scaling, body: autoscaler('a', {}), status: 422 },
  {
    what: 'an old autoscaler with strange annotations',
    method: 'POST',
    path: scaling,
    body: autoscaler('b', { annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{"length":5}' } }),
    status: 422,
  },
  ...['v1beta2', 'v1beta1', 'v1alpha4', 'v1alpha3'].flatMap((version): Case[] => {
    const path = `${clusterApi}/${version}/namespaces/default/machinesets`;
    return [
      {
        what: `${version}: an object where a list should be`,
        method: 'POST',
        path,
        body: machineSet(version, 'm', { matchExpressions: { a: 1 } }),
        status: 422,
        message: /matchExpressions in body must be of type array/,
      },
      {
        what: `${version}: null in a list`,
        method: 'POST',
        path,
        body: machineSet(version, 'm', { matchExpressions: [null] }),
        status: 422,
      },
      {
        what: `${version}: a text where the spec should be`,
        method: 'POST',
        path,
        body: { ...machineSet(version, 'm', {}), spec: 'x' },
        status: 422,
        message: /spec in body must be of type object/,
      },
    ];
  }),
  {
    what: 'a patch that doubles a part forty times',
    method: 'PATCH',
    path: `${core}/configmaps/held`,
    headers: [['content-type', jsonPatch]],
    body: [
      { op: 'add', path: '/data', value: { a: 'x'.repeat(100) } },
      ...Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/k${i}` })),
    ],
    status: 422,
  },
  {
    what: 'a patch of the prototype',
    method: 'PATCH',
    path: `${core}/configmaps/held`,
    headers: [['content-type', jsonPatch]],
    body: [{ op: 'add', path: '/__proto__/polluted', value: true }],
    status: 422,
  },
  {
    what: 'a patch that names a field __proto__',
    method: 'PATCH',
    path: `${core}/configmaps/held`,
    headers: [['content-type', jsonPatch]],
    body: [{ op: 'add', path: '/__proto__', value: { polluted: true } }],
    status: 422,
  },
];

describe('requests that once did harm', () => {
  beforeAll(async () => {
    await sendJson(client, 'POST', `${core}/configmaps`, configMap('held'));
    await sendJson(client, 'POST', `${core}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot' },
    });
  });

  it.each(cases)('are answered: $what: $status', async ({ method, path, body, headers, status, message }) => {
    const answer = await sendJson(client, method, path, body, headers);
    expect(answer.status, JSON.stringify(answer.value).slice(0, 500)).toBe(status);
    expect(answer.value).toMatchObject({ kind: 'Status', code: status, status: 'Failure' });
    if (message) expect(answer.value.message).toMatch(message);
    expect(server.unexpected).toEqual([]);
    expect(({} as JsonAnswer).polluted).toBeUndefined();
    expect((await sendJson(client, 'GET', `${core}/configmaps/held`)).status).toBe(200);
  });
});

describe('warnings', () => {
  it('in any language arrive as they were written', async () => {
    const { status, headers } = await sendJson(
      client,
      'POST',
      `${core}/configmaps`,
      configMap('w1', { 'größe 🌍\n': 1 }),
    );
    expect(status).toBe(201);
    expect(Buffer.from(String(headers['warning']), 'latin1').toString()).toBe(
      '299 - "unknown field \\"größe 🌍\\\\n\\""',
    );
  });

  it.each(['http/1.1', 'h2'] as const)(
    'do not exceed what clients accept, however much is wrong (%s)',
    async (protocol) => {
      const sender = protocol === 'h2' ? http2Client(server.admin) : http1Client(server.admin);
      const wrong = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, i]));
      const { status, headers } = await sendJson(
        sender,
        'POST',
        `${core}/configmaps`,
        configMap(`w-${protocol.length}`, wrong),
      );
      expect(status).toBe(201);
      expect(String(headers['warning']).length).toBeLessThan(8192);
      sender.close();
    },
  );
});

describe('server-side apply', () => {
  it('works across versions of a kind after a manager lost all its metadata', async () => {
    const path = (version: string): string => `${clusterApi}/${version}/namespaces/default/machinedeployments/d`;
    const object = (version: string, labels?: object): JsonAnswer => ({
      apiVersion: `cluster.x-k8s.io/${version}`,
      kind: 'MachineDeployment',
      metadata: { name: 'd', ...(labels && { labels }) },
      spec: {
        clusterName: 'first',
        replicas: 1,
        selector: {},
        template: {
          spec: {
            clusterName: 'first',
            version: 'v1.30.0',
            bootstrap: {
              configRef: { apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta1', kind: 'KubeadmConfigTemplate', name: 'x' },
            },
            infrastructureRef: {
              apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
              kind: 'OpenStackMachineTemplate',
              name: 'x',
            },
          },
        },
      },
    });
    const apply = async (version: string, manager: string, labels?: object): Promise<JsonAnswer> => {
      const { status, value } = await sendJson(
        client,
        'PATCH',
        `${path(version)}?fieldManager=${manager}&force=true`,
        object(version, labels),
        [['content-type', applyPatch]],
      );
      expect([200, 201], JSON.stringify(value).slice(0, 500)).toContain(status);
      return value;
    };
    await apply('v1alpha3', 'm1', { a: '1' });
    await apply('v1beta1', 'm2', { b: '2' });
    await apply('v1alpha4', 'm3');
    const after = await apply('v1alpha3', 'm1');
    expect(after.metadata.labels).not.toHaveProperty('a');
    expect(after.metadata.labels).toHaveProperty('b', '2');
    const last = await apply('v1beta1', 'm2');
    expect(last.metadata.labels ?? {}).not.toHaveProperty('b');
    expect(last.metadata.name).toBe('d');
  });
});

describe('null among the finalizers', () => {
  it('is read as the empty name and refused by that name', async () => {
    const path = `${clusterApi}/v1beta2/namespaces/default/clusters`;
    const object = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'unnamed', finalizers: [null] },
    };
    const made = await sendJson(client, 'POST', path, object);
    expect(made.status).toBe(422);
    expect(made.value.message).toContain('metadata.finalizers');
  });
});

describe('deep nesting', () => {
  it.each([
    ['application/yaml', '['.repeat(999)],
    ['application/yaml', '['.repeat(100_000)],
    ['application/yaml', `${'{a: '.repeat(700)}1${'}'.repeat(700)}`],
    ['application/yaml', '- '.repeat(5_000)],
    ['application/yaml', Array.from({ length: 1_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['application/apply-patch+yaml', '['.repeat(999) + ']'.repeat(999)],
    ['application/apply-patch+yaml', '{"spec":{"template":'.repeat(100_000)],
    ['application/json', `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`],
    ['application/json', '['.repeat(100_000)],
  ])('in %s ends in a refusal and not in the end of the process (%#)', async (contentType, body) => {
    const apply = contentType.includes('apply');
    const answer = await client.send({
      method: apply ? 'PATCH' : 'POST',
      path: apply ? `${core}/configmaps/held?fieldManager=m` : `${core}/configmaps`,
      headers: [['content-type', contentType]],
      body,
    });
    expect(answer.status).toBe(400);
  });

  it('in an annotation that conversions read does not break the list', async () => {
    const deep = `{"apiVersion":"cluster.x-k8s.io/v1beta1","spec":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`;
    const object = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name: 'deep', annotations: { 'cluster.x-k8s.io/conversion-data': deep } },
      spec: {
        clusterName: 'c',
        template: {
          spec: {
            clusterName: 'c',
            bootstrap: { dataSecretName: 'x' },
            infrastructureRef: {
              apiGroup: 'infrastructure.cluster.x-k8s.io',
              kind: 'OpenStackMachineTemplate',
              name: 'x',
            },
          },
        },
      },
    };
    const made = await sendJson(client, 'POST', `${clusterApi}/v1beta2/namespaces/default/machinedeployments`, object);
    expect(made.status, JSON.stringify(made.value).slice(0, 300)).toBe(201);
    for (const version of ['v1beta2', 'v1beta1', 'v1alpha4', 'v1alpha3']) {
      expect((await sendJson(client, 'GET', `${clusterApi}/${version}/machinedeployments`)).status).toBe(200);
    }
  });
});

describe('metrics', () => {
  it('do not grow with names that clients make up', async () => {
    for (let i = 0; i < 50; i++) {
      await client.send({ method: 'GET', path: `/apis/made-up-${i}.example.com/v1/madeups` });
      await client.send({ method: 'GET', path: `${core}/madeups${i}` });
      await client.send({ method: 'GET', path: `${core}/pods/x/madeup${i}` });
    }
    const { body } = await client.send({ method: 'GET', path: '/metrics' });
    expect(body.toString()).not.toMatch(/made-?up/);
  });
});

describe('HTTP/2', () => {
  it('ends a stream whose body was not read', async () => {
    const { host, port, ca, cert, key } = server.admin;
    const session = connect(`https://${host}:${port}`, { ca, cert: cert!, key: key! });
    const stream = session.request({ ':method': 'PUT', ':path': `${core}/configmaps` });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.resume();
    stream.end(Buffer.alloc(2 * 1024 * 1024));
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    session.destroy();
  });
});
