import { describe, expect, it } from 'vitest';
import { asTyped, isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { at, crd, eventually, onTargets, targets } from '../testing/index.ts';

type Schemas = Record<string, JsonObject>;

function schemasOf(document: JsonObject): Schemas {
  return asTyped<Schemas>(at(document, 'components.schemas')!);
}

function kindsOf(schemas: Schemas): string[] {
  return Object.values(schemas).flatMap((schema) => {
    const list = schema['x-kubernetes-group-version-kind'];
    return Array.isArray(list) ? list.filter(isJsonObject).map(({ kind }) => String(kind)) : [];
  });
}

function operationsOf(document: JsonObject): { path: string; method: string; operation: JsonObject }[] {
  return Object.entries(document['paths'] as Record<string, JsonObject>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => isJsonObject(operation))
      .map(([method, operation]) => ({ path, method, operation: operation as JsonObject })),
  );
}

function parametersOf(operation: JsonObject): string[] {
  return Array.isArray(operation['parameters'])
    ? operation['parameters'].map((parameter) => String((parameter as JsonObject)['name']))
    : [];
}

onTargets(targets, (on) => {
  const urlOf = async (key: string): Promise<string> => {
    const { body } = await on().api.get('/openapi/v3');
    return String(((body['paths'] as JsonObject)[key] as JsonObject)['serverRelativeURL']);
  };

  describe('/openapi/v3', () => {
    it('the index gives each group-version an address with a hash of its content', async () => {
      const { body } = await on().api.get('/openapi/v3');
      const paths = body['paths'] as Record<string, { serverRelativeURL: string }>;
      for (const key of ['api/v1', 'apis/apps/v1', 'apis/apiextensions.k8s.io/v1']) {
        expect(paths[key]!.serverRelativeURL).toMatch(new RegExp(`^/openapi/v3/${key}\\?hash=[0-9A-F]+$`));
      }
    });

    it('an address with a hash is cacheable forever', async () => {
      const url = await urlOf('apis/apps/v1');
      const answer = await on().api.get(url);
      expect(answer.status).toBe(200);
      expect(answer.header('content-type')).toBe('application/json');
      expect(answer.header('etag')).toMatch(/^"[0-9A-F]+"$/);
      expect(answer.header('vary')).toBe('Accept');
      expect(answer.header('cache-control')).toBe('public, immutable');
      const aheadDays = (Date.parse(answer.header('expires')!) - Date.now()) / 86_400_000;
      expect(Math.round(aheadDays)).toBe(365);
    });

    it('an address with a wrong hash is redirected to the right one', async () => {
      const answer = await on().api.get('/openapi/v3/apis/apps/v1?hash=0123');
      expect(answer.status).toBe(301);
      expect(answer.header('location')).toBe(await urlOf('apis/apps/v1'));
    });

    it('an address without a hash is answered with an ETag, and 304 when the client sends that ETag', async () => {
      const answer = await on().api.get('/openapi/v3/apis/apps/v1');
      expect(answer.status).toBe(200);
      expect(answer.header('cache-control') ?? '').not.toContain('immutable');
      const again = await on().api.get('/openapi/v3/apis/apps/v1', { 'if-none-match': answer.header('etag')! });
      expect(again.status).toBe(304);
      expect(again.bytes.length).toBe(0);
    });

    it('the document of an unknown group-version is a 404', async () => {
      expect((await on().api.get('/openapi/v3/apis/no.such.group/v1')).status).toBe(404);
    });

    it('every kind in discovery has a schema that names it', async () => {
      for (const [list, key] of [
        ['/api/v1', 'api/v1'],
        ['/apis/apps/v1', 'apis/apps/v1'],
        ['/apis/rbac.authorization.k8s.io/v1', 'apis/rbac.authorization.k8s.io/v1'],
      ] as const) {
        const { body } = await on().api.get(list);
        const kinds = kindsOf(schemasOf((await on().api.get(`/openapi/v3/${key}`)).body));
        for (const resource of body['resources'] as JsonObject[]) {
          if (String(resource['name']).includes('/')) continue;
          expect(kinds).toContain(resource['kind']);
        }
      }
    });

    it('every reference resolves to a schema', async () => {
      const answer = await on().api.get('/openapi/v3/apis/apps/v1');
      const known = new Set(Object.keys(schemasOf(answer.body)));
      const references = [...answer.text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
        ([, name]) => name!,
      );
      expect(references.length).toBeGreaterThan(100);
      expect(references.filter((name) => !known.has(name))).toEqual([]);
    });

    it('operations name their action and kind, and writes list dryRun and fieldValidation', async () => {
      const { body } = await on().api.get('/openapi/v3/apis/apps/v1');
      const writes = { post: 'post', put: 'put', patch: 'patch' } as const;
      let seen = 0;
      for (const { path, method, operation } of operationsOf(body)) {
        if (!path.includes('/deployments') || path.includes('/watch/') || path.endsWith('/scale')) continue;
        expect(operation['x-kubernetes-action'], `${method} ${path}`).toBeTypeOf('string');
        expect(operation['x-kubernetes-group-version-kind'], `${method} ${path}`).toEqual({
          group: 'apps',
          version: 'v1',
          kind: 'Deployment',
        });
        if (!(method in writes)) continue;
        seen++;
        expect(operation['x-kubernetes-action']).toBe(method);
        expect(parametersOf(operation)).toEqual(expect.arrayContaining(['dryRun', 'fieldManager', 'fieldValidation']));
      }
      expect(seen).toBe(5);
    });

    it('built-in kinds list strategic merge patches', async () => {
      const { body } = await on().api.get('/openapi/v3/apis/apps/v1');
      const item = (body['paths'] as JsonObject)['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
      const types = Object.keys(at(item, 'patch.requestBody.content') as JsonObject);
      for (const type of ['apply-patch+yaml', 'json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json']) {
        expect(types).toContain(`application/${type}`);
      }
    });

    it('list types and merge keys are published', async () => {
      const { body } = await on().api.get('/openapi/v3/api/v1');
      const container = schemasOf(body)['io.k8s.api.core.v1.Container']!;
      expect(at(container, 'properties.ports')).toMatchObject({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
        'x-kubernetes-patch-merge-key': 'containerPort',
        'x-kubernetes-patch-strategy': 'merge',
      });
    });
  });

  describe('/openapi/v2', () => {
    it('is JSON by default', async () => {
      const answer = await on().api.get('/openapi/v2');
      expect(answer.status).toBe(200);
      expect(answer.body['swagger']).toBe('2.0');
      expect(at(answer.body, 'definitions')).toHaveProperty(['io.k8s.api.apps.v1.Deployment']);
    });

    it('is a protobuf document for clients that accept only protobuf', async () => {
      const answer = await on().api.get('/openapi/v2', {
        accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toContain('protobuf');
    });
  });

  describe('OpenAPI of custom kinds', () => {
    it('describes a kind as soon as it is served, with its metadata, actions and patch types', async () => {
      const group = `${on().unique('openapi')}.example.com`;
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const before = (await on().api.get('/openapi/v3')).body;
      expect(before['paths']).not.toHaveProperty([`apis/${group}/v1`]);
      await on().api.create(path, crd({ group, spec: { colour: { type: 'string', description: 'Its colour.' } } }));
      on().cleanUp(`${path}/widgets.${group}`);
      const document = await eventually(async () => {
        const answer = await on().api.get(`/openapi/v3/apis/${group}/v1`);
        return answer.status === 200 ? answer.body : undefined;
      });
      const name = `${group.split('.').reverse().join('.')}.v1.Widget`;
      const schema = schemasOf(document)[name]!;
      expect(schema['x-kubernetes-group-version-kind']).toEqual([{ group, version: 'v1', kind: 'Widget' }]);
      expect(at(schema, 'properties.spec.properties.colour')).toEqual({ type: 'string', description: 'Its colour.' });
      expect(JSON.stringify(at(schema, 'properties.metadata'))).toContain('meta.v1.ObjectMeta');
      const item = (document['paths'] as JsonObject)[`/apis/${group}/v1/namespaces/{namespace}/widgets/{name}`];
      const types = Object.keys(at(item, 'patch.requestBody.content') as JsonObject);
      expect(types).toContain('application/apply-patch+yaml');
      expect(types).not.toContain('application/strategic-merge-patch+json');
      expect(parametersOf(at(item, 'put') as JsonObject)).toEqual(
        expect.arrayContaining(['dryRun', 'fieldValidation']),
      );
    });
  });
});
