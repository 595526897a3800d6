import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { customResourceDefinition } from './objects.ts';
import { lines, table } from './output.ts';

/** ValidatingAdmissionPolicy. */
export function policyExpectations(expectation: Expectation): void {
  const kinds = 'validatingadmissionpolicy,validatingadmissionpolicybinding';
  /** Builds a policy for ConfigMaps, with a binding for only the sandbox. */
  const manifests = (s: Sandbox, spec: object, actions = ['Deny'], binding: object = {}): object[] => {
    const metadata = { name: `policy-${s.id}` };
    // Applies to both: an invalid policy fails everywhere its own constraints match, even without a binding there.
    const here = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': s.namespace } } };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    return [
      {
        apiVersion,
        kind: 'ValidatingAdmissionPolicy',
        metadata,
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
            ],
            ...here,
          },
          ...spec,
        },
      },
      {
        apiVersion,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata,
        spec: {
          policyName: metadata.name,
          validationActions: actions,
          matchResources: here,
          ...binding,
        },
      },
    ];
  };
  const enforce = async (s: Sandbox, ...rest: [object, string[]?, object?]): Promise<string> => {
    s.cleanUp(() => s.run`delete ${kinds} policy-${s.id} --ignore-not-found`);
    await s.with(manifests(s, ...rest)).ok`create -f -`;
    return `ValidatingAdmissionPolicy 'policy-${s.id}' with binding 'policy-${s.id}'`;
  };

  expectation('a policy refuses what does not pass it, and applies to every way of writing', async (s) => {
    const by = await enforce(s, {
      validations: [
        { expression: 'has(object.metadata.labels) && "team" in object.metadata.labels', message: 'name a team' },
      ],
    });
    await eventually(async () => {
      await s.run`delete configmap a --ignore-not-found`;
      expect(await s.fails`create configmap a`).toContain(
        `configmaps "a" is forbidden: ${by} denied request: name a team`,
      );
    });
    const labelled = (labels?: object): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', ...(labels && { labels }) },
    });
    expect(await s.with(labelled()).fails`apply -f -`).toContain('name a team');
    expect(await s.with(labelled()).fails`apply --server-side -f -`).toContain('name a team');
    expect(await s.with(labelled()).fails`create -f - --dry-run=server`).toContain('name a team');
    await s.with(labelled({ team: 'x' })).ok`apply -f -`;
    expect(await s.fails`label configmap a team-`).toContain('name a team');
    expect(await s.ok`delete configmap a`).toBe('configmap "a" deleted\n');
  });

  expectation('a policy can warn instead', async (s) => {
    const by = await enforce(s, { validations: [{ expression: 'false', message: 'mind your step' }] }, ['Warn']);
    await eventually(async () => {
      await s.run`delete configmap a --ignore-not-found`;
      const outcome = await s.run`create configmap a`;
      expect(outcome).toMatchObject({ code: 0, stdout: 'configmap/a created\n' });
      expect(outcome.stderr).toBe(`Warning: Validation failed for ${by}: mind your step\n`);
    });
  });

  expectation('a policy takes parameters from objects', async (s) => {
    const group = `${s.id}.policies.example`;
    s.cleanUp(() => s.run`delete crd ceilings.${group} --ignore-not-found`);
    const longest = { type: 'integer' };
    await s.with(customResourceDefinition({ group, kind: 'Ceiling', plural: 'ceilings', properties: { longest } }))
      .ok`create -f -`;
    await s.ok`wait crd ceilings.${group} --for=condition=Established`;
    const spec = {
      paramKind: { apiVersion: `${group}/v1`, kind: 'Ceiling' },
      validations: [
        {
          expression: 'object.metadata.name.size() <= params.longest',
          messageExpression: '"at most " + string(params.longest) + " characters"',
        },
      ],
    };
    const paramRef = { name: 'names', parameterNotFoundAction: 'Deny' };
    await enforce(s, spec, ['Deny'], { paramRef });
    await eventually(async () => {
      await s.run`delete configmap a --ignore-not-found`;
      expect(await s.fails`create configmap a`).toContain(
        'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
      );
    });
    await s.with({ apiVersion: `${group}/v1`, kind: 'Ceiling', metadata: { name: 'names' }, longest: 5 })
      .ok`create -f -`;
    await eventually(async () => {
      expect(await s.fails`create configmap toolong`).toContain('at most 5 characters');
    });
    await s.ok`create configmap short`;
  });

  expectation('a policy whose expressions do not compile is refused, with the place', async (s) => {
    s.cleanUp(() => s.run`delete ${kinds} policy-${s.id} --ignore-not-found`);
    const [policy] = manifests(s, { validations: [{ expression: 'object.metadata.name == nobody' }] });
    expect(lines(await s.with(policy!).fails`create -f -`)).toEqual([
      `The ValidatingAdmissionPolicy "policy-${s.id}" is invalid: spec.validations[0].expression: Invalid value: "object.metadata.name == nobody": compilation failed: ERROR: <input>:1:25: undeclared reference to 'nobody' (in container '')`,
      ' | object.metadata.name == nobody',
      ' | ........................^',
    ]);
  });

  expectation('policies and bindings are listed with what they are about', async (s) => {
    await enforce(s, { validations: [{ expression: 'true' }] });
    const name = `policy-${s.id}`;
    expect(table(await s.ok`get validatingadmissionpolicy ${name}`)[0]).toEqual([
      'NAME',
      'VALIDATIONS',
      'PARAMKIND',
      'AGE',
    ]);
    expect(table(await s.ok`get validatingadmissionpolicy ${name} --no-headers`)[0]!.slice(0, 3)).toEqual([
      name,
      '1',
      '<unset>',
    ]);
    expect(table(await s.ok`get validatingadmissionpolicybinding ${name} --no-headers`)[0]!.slice(0, 3)).toEqual([
      name,
      name,
      '<unset>',
    ]);
    await s.ok`wait validatingadmissionpolicy ${name} --for=jsonpath=${'{.status.observedGeneration}=1'}`;
  });
}
