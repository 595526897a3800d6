import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../machinery/index.ts';
import { type Answer, at, configMap, crd, type Namespace, onTargets, targets } from '../testing/index.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const policies = `${registration}/validatingadmissionpolicies`;
const bindings = `${registration}/validatingadmissionpolicybindings`;
/** Timeout for a real server; ours reacts at once. */
const patienceMs = 60_000;

onTargets(targets, (on, { real }) => {
  interface InForce {
    policy: string;
    binding: string;
    ns: Namespace;
    /** path of the ConfigMaps that the policy validates */
    path: string;
    create(name: string, data?: Record<string, string>): Promise<Answer>;
    /** start of its refusal messages */
    by: string;
    remove(): Promise<void>;
  }

  /** Creates a policy for ConfigMaps, bound to a namespace of its own. */
  async function enforce(
    spec: object,
    binding: object = {},
    options: { actions?: string[]; ns?: Namespace } = {},
  ): Promise<InForce> {
    const target = on();
    const { api } = target;
    const ns = options.ns ?? (await target.namespace());
    const name = target.unique('policy');
    await api.create(policies, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
        },
        ...spec,
      },
    } as KubeObject);
    target.cleanUp(`${policies}/${name}`);
    await api.create(bindings, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: {
        policyName: name,
        validationActions: options.actions ?? ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns.name } } },
        ...binding,
      },
    } as KubeObject);
    target.cleanUp(`${bindings}/${name}`);
    // A real server applies the policy shortly after and does not signal it.
    if (!target.ours) await new Promise((resolve) => setTimeout(resolve, 2500));
    const path = ns.core('configmaps');
    return {
      policy: name,
      binding: name,
      ns,
      path,
      create: (object, data) => api.post(path, configMap(object, data && { data })),
      by: `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: `,
      remove: async () => {
        await api.delete(`${bindings}/${name}`);
        await api.delete(`${policies}/${name}`);
      },
    };
  }

  const isRefused = (answer: Answer, code: number, message: string): void => {
    expect(answer.status, answer.text).toBe(code);
    expect(answer.body['message']).toContain(message);
  };

  /** Expects a refusal with this message, for real servers after their parameter cache has synced. */
  const isRefusedSoon = (attempt: () => Promise<Answer>, message: string): Promise<void> =>
    expect
      .poll(
        async () => {
          const answer = await attempt();
          if (answer.status === 201) {
            const { namespace, name } = answer.object.metadata;
            await on().api.delete(`/api/v1/namespaces/${namespace}/configmaps/${name}`);
          }
          return String(answer.body['message']);
        },
        { timeout: patienceMs },
      )
      .toContain(message) as Promise<void>;

  describe('a ValidatingAdmissionPolicy', () => {
    it('refuses a failed validation with its own message and reason', async () => {
      const { create, by } = await enforce({
        validations: [
          { expression: 'object == null || object.metadata.name != "plain"' },
          { expression: 'object == null || object.metadata.name != "told"', message: ' told so ', reason: 'Forbidden' },
          {
            expression: 'object == null || object.metadata.name != "large"',
            messageExpression: '"no " + object.metadata.name + " here"',
            reason: 'RequestEntityTooLarge',
          },
        ],
      });
      const plain = await create('plain');
      const text = `${by}failed expression: object == null || object.metadata.name != "plain"`;
      isRefused(plain, 422, `configmaps "plain" is forbidden: ${text}`);
      expect(plain.body).toMatchObject({ reason: 'Invalid', details: { causes: [{ message: text }] } });
      isRefused(await create('told'), 403, `${by}told so`);
      isRefused(await create('large'), 413, `${by}no large here`);
      expect((await create('fine')).status).toBe(201);
    });

    it('validates updates, server-side applies and deletes too, with access to oldObject', async () => {
      const { create, by, path } = await enforce({
        validations: [
          {
            expression: 'oldObject == null || object == null || object.data.x >= oldObject.data.x',
            message: 'never less',
          },
          { expression: 'request.operation != "DELETE" || oldObject.data.x != "9"', message: 'stays' },
        ],
      });
      const { api } = on();
      expect((await create('a', { x: '5' })).status).toBe(201);
      isRefused(await api.put(`${path}/a`, configMap('a', { data: { x: '4' } })), 422, `${by}never less`);
      const applied = await api.apply(`${path}/a?fieldManager=t&force=true`, configMap('a', { data: { x: '1' } }));
      isRefused(applied, 422, `${by}never less`);
      expect((await api.put(`${path}/a`, configMap('a', { data: { x: '9' } }))).status).toBe(200);
      isRefused(await api.delete(`${path}/a`), 422, `${by}stays`);
    });

    it('only warns when its binding says Warn', async () => {
      const { create, policy } = await enforce(
        { validations: [{ expression: 'false', message: 'mind' }] },
        {},
        { actions: ['Warn', 'Audit'] },
      );
      const answer = await create('a');
      expect(answer.status).toBe(201);
      expect(answer.headers['warning']).toBe(
        `299 - "Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${policy}': mind"`,
      );
    });

    it('refuses or allows requests on evaluation errors according to failurePolicy', async () => {
      const validations = [{ expression: 'object.data.none == "x"' }];
      const strict = await enforce({ validations });
      isRefused(
        await strict.create('a'),
        422,
        `${strict.by}expression 'object.data.none == "x"' resulted in error: no such key: data`,
      );
      const lenient = await enforce({ validations, failurePolicy: 'Ignore' });
      expect((await lenient.create('a')).status).toBe(201);
      isRefused(await lenient.create('b', { none: 'y' }), 422, 'failed expression');
    });

    it('applies only when all match conditions are true', async () => {
      const { create, by } = await enforce({
        matchConditions: [
          { name: 'marked', expression: 'object != null && object.metadata.name.startsWith("marked")' },
          { name: 'data', expression: 'object.data.x == "1"' },
        ],
        validations: [{ expression: 'false', message: 'caught' }],
      });
      expect((await create('other')).status).toBe(201);
      expect((await create('marked-0', { x: '0' })).status).toBe(201);
      isRefused(await create('marked-1', { x: '1' }), 422, `${by}caught`);
      isRefused(
        await create('marked-2'),
        422,
        `${by}expression 'object.data.x == "1"' resulted in error: no such key: data`,
      );
    });

    it('composes variables, and evaluates each only when it is needed', async () => {
      const { create, by } = await enforce({
        variables: [
          { name: 'values', expression: 'object.data.map(k, int(object.data[k]))' },
          { name: 'total', expression: 'variables.values.sum()' },
          { name: 'broken', expression: '[1][5]' },
        ],
        validations: [
          { expression: 'variables.total <= 3', messageExpression: '"total is " + string(variables.total)' },
          { expression: 'variables.total != 3 || variables.broken == 1' },
        ],
      });
      expect((await create('a', { x: '1', y: '1' })).status).toBe(201);
      isRefused(await create('b', { x: '1', y: '3' }), 422, `${by}total is 4`);
      isRefused(
        await create('c', { x: '3' }),
        422,
        `${by}expression 'variables.total != 3 || variables.broken == 1' resulted in error: composited variable "broken" fails to evaluate: index out of bounds: 5`,
      );
    });

    it('has access to the namespace object and to permissions of the sender', async () => {
      const target = on();
      const ns = await target.namespace();
      await target.api.patch(`/api/v1/namespaces/${ns.name}`, 'application/merge-patch+json', {
        metadata: { labels: { tier: 'gold' } },
      });
      const { create, by } = await enforce(
        {
          validations: [
            {
              expression: 'namespaceObject.metadata.labels.tier != "gold" || object.metadata.name == "gold"',
              message: 'gold only',
            },
            { expression: '!authorizer.requestResource.check("break-glass").allowed()', message: 'a master' },
          ],
        },
        {},
        { ns },
      );
      isRefused(await create('silver'), 422, `${by}gold only`);
      isRefused(await create('gold'), 422, `${by}a master`);
    });

    it('ignores requests outside its rules, names and selectors', async () => {
      const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
      const { create, by, path } = await enforce({
        matchConstraints: {
          resourceRules: [rule],
          excludeResourceRules: [{ ...rule, resourceNames: ['free'] }],
          objectSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] },
        },
        validations: [{ expression: 'false', message: 'caught' }],
      });
      isRefused(await create('a'), 422, `${by}caught`);
      expect((await create('free')).status).toBe(201);
      const skipped = configMap('skipped', { metadata: { labels: { skip: 'me' } } });
      expect((await on().api.post(path, skipped)).status).toBe(201);
      expect((await on().api.delete(`${path}/free`)).status).toBe(200);
    });

    it('has no effect without a binding, nor after the binding is deleted', async () => {
      const target = on();
      const inForce = await enforce({ validations: [{ expression: 'false', message: 'caught' }] });
      isRefused(await inForce.create('a'), 422, 'caught');
      await inForce.remove();
      if (!target.ours) await new Promise((resolve) => setTimeout(resolve, 1500));
      expect((await inForce.create('a')).status).toBe(201);
    });

    it('cannot refuse changes of policies', async () => {
      const target = on();
      const everything = {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['admissionregistration.k8s.io'], apiVersions: ['*'], operations: ['*'], resources: ['*'] },
          ],
        },
        validations: [{ expression: 'false' }],
      };
      // Bound to one kind of object that no other test uses.
      const matchResources = { objectSelector: { matchLabels: { 'rules-test': 'locked' } } };
      const { policy } = await enforce(everything, { matchResources });
      const patch = { metadata: { labels: { 'rules-test': 'locked' } } };
      const answer = await target.api.patch(`${policies}/${policy}`, 'application/merge-patch+json', patch);
      expect(answer.status, answer.text).toBe(200);
    });

    it('reports the generation in force as observedGeneration', async () => {
      const { policy } = await enforce({ validations: [{ expression: 'true' }] });
      await expect
        .poll(async () => at((await on().api.get(`${policies}/${policy}`)).body, 'status.observedGeneration'), {
          timeout: 10_000,
        })
        .toBe(1);
    });
  });

  describe('the parameters of a policy', { timeout: 2 * patienceMs }, () => {
    const limited = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'not-parameters', expression: 'object != null && !has(object.data)' }],
      validations: [
        {
          expression: 'params == null || object.metadata.name.size() <= int(params.data.max)',
          messageExpression: '"longer than " + params.data.max',
        },
      ],
    };

    // After a policy with parameters of a built-in kind was deleted, kube-apiserver 1.34 does not find parameters of
    // that kind until a restart. The custom kinds below are new to it.
    it.skipIf(real)('come by name from the namespace of the request or from another one', async () => {
      const target = on();
      const ns = await target.namespace();
      await target.api.create(ns.core('configmaps'), configMap('limits', { data: { max: '4' } }));
      const here = await enforce(limited, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } }, { ns });
      await isRefusedSoon(() => here.create('longname'), `${here.by}longer than 4`);
      expect((await here.create('name')).status).toBe(201);
      const elsewhere = await enforce(limited, {
        paramRef: { name: 'limits', namespace: ns.name, parameterNotFoundAction: 'Deny' },
      });
      await isRefusedSoon(() => elsewhere.create('longname'), `${elsewhere.by}longer than 4`);
    });

    it.skipIf(real)('may be several, chosen by labels, and all of them must be satisfied', async () => {
      const target = on();
      const ns = await target.namespace();
      const labels = { labels: { limits: 'yes' } };
      for (const max of ['4', '6']) {
        await target.api.create(ns.core('configmaps'), configMap(`max-${max}`, { data: { max }, metadata: labels }));
      }
      const paramRef = { selector: { matchLabels: { limits: 'yes' } }, parameterNotFoundAction: 'Allow' };
      const { create, by } = await enforce(limited, { paramRef }, { ns });
      await isRefusedSoon(() => create('five5'), `${by}longer than 4`);
      expect((await create('four')).status).toBe(201);
    });

    it('that are missing refuse or allow the request as the binding says', async () => {
      const strict = await enforce(limited, { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } });
      isRefused(
        await strict.create('a'),
        422,
        `${strict.by}failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
      );
      const lenient = await enforce(limited, { paramRef: { name: 'none', parameterNotFoundAction: 'Allow' } });
      expect((await lenient.create('a-very-long-name')).status).toBe(201);
    });

    it('of a kind that is not served count as a failure of the policy', async () => {
      const paramKind = { apiVersion: 'nobody.example.com/v1', kind: 'Nothing' };
      const binding = { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } };
      const ns = await on().namespace();
      // Such a failure applies wherever the policy is bound, so its own constraints must keep it away from other tests.
      const matchConstraints = {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns.name } },
      };
      const spec = { paramKind, matchConstraints, validations: [{ expression: 'true' }] };
      const { create, policy } = await enforce(spec, binding, { ns });
      isRefused(
        await create('a'),
        422,
        `ValidatingAdmissionPolicy '${policy}' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'nobody.example.com/v1, Kind=Nothing'`,
      );
    });

    it('may be objects of a custom kind', async () => {
      const target = on();
      const group = `${target.unique('params')}.example.com`;
      const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      await target.api.create(definitions, crd({ group, spec: { max: { type: 'integer' } } }));
      target.cleanUp(`${definitions}/widgets.${group}`);
      const ns = await target.namespace();
      const path = ns.of(`${group}/v1`, 'widgets');
      await expect.poll(async () => (await target.api.get(path)).status, { timeout: 10_000 }).toBe(200);
      await target.api.create(path, {
        apiVersion: `${group}/v1`,
        kind: 'Widget',
        metadata: { name: 'limits' },
        spec: { max: 4 },
      } as KubeObject);
      const { create, by } = await enforce(
        {
          paramKind: { apiVersion: `${group}/v1`, kind: 'Widget' },
          validations: [{ expression: 'object.metadata.name.size() <= params.spec.max', message: 'too long' }],
        },
        { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
        { ns },
      );
      await isRefusedSoon(() => create('longname'), `${by}too long`);
      expect((await create('name')).status).toBe(201);
    });
  });

  describe('validation of a policy', () => {
    const refused = async (spec: object): Promise<string> => {
      const answer = await on().api.post(policies, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: on().unique('refused') },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
          },
          validations: [{ expression: 'true' }],
          ...spec,
        },
      });
      expect(answer.status, answer.text).toBe(422);
      return String(answer.body['message']);
    };

    it.each<[object, string]>([
      [{ validations: [{ expression: 'foo' }] }, "undeclared reference to 'foo' (in container '')"],
      [{ validations: [{ expression: 'object.x' }] }, 'must evaluate to bool but got dyn'],
      [{ validations: [{ expression: 'params.x == 1' }] }, "undeclared reference to 'params'"],
      [
        { validations: [{ expression: 'true', messageExpression: '1' }] },
        'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
      ],
      [
        { validations: [{ expression: 'true', reason: 'Nope' }] },
        'spec.validations[0].reason: Unsupported value: "Nope": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
      [
        { validations: [{ expression: 'true', message: 'a\nb' }] },
        'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
      ],
      [
        { variables: [{ name: '1a', expression: '1' }] },
        'spec.variables[0].name: Invalid value: "1a": must be a valid CEL identifier',
      ],
      [
        { matchConditions: [{ name: 'a', expression: '1' }] },
        'spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
      ],
      [
        {
          matchConditions: [
            { name: 'a', expression: 'true' },
            { name: 'a', expression: 'true' },
          ],
        },
        'spec.matchConditions[1].name: Duplicate value: "a"',
      ],
      [
        { paramKind: { apiVersion: 'a/b/c', kind: 'X' } },
        'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      ],
      [
        { auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
      ],
    ])('refuses %j: %s', async (spec, message) => {
      expect(await refused(spec)).toContain(message);
    });
  });
});
