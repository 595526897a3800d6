import { describe, expect, it } from 'vitest';
import { ownDefinitions } from '../api/index.ts';
import {
  applyJsonPatch,
  asJson,
  clone,
  type JsonObject,
  type ResourceDefinition,
  statusError,
  systemClock,
  systemRandom,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { type AdmissionOptions, mutate, type Rule, validate } from './admission.ts';
import {
  type AdmissionAnswer,
  type AdmissionRequest,
  admissionReviewOf,
  parseAdmissionReview,
} from './admission-review.ts';
import { validatingConfiguration } from './configurations.ts';
import { ReviewedKinds } from './reviewed-kinds.ts';

const controlPlane: UnstructuredObject = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmControlPlane',
  metadata: { name: 'cp', namespace: 'default' },
  spec: {
    version: '1.33.6',
    machineTemplate: {
      spec: {
        infrastructureRef: {
          apiGroup: 'infrastructure.cluster.x-k8s.io',
          kind: 'OpenStackMachineTemplate',
          name: 'cp',
        },
      },
    },
    kubeadmConfigSpec: {},
  },
};

function options(live?: UnstructuredObject): AdmissionOptions {
  return {
    kinds: new ReviewedKinds(ownDefinitions),
    clock: systemClock,
    random: systemRandom,
    readLive: async (_definition: ResourceDefinition) => live!,
  };
}

function request(object: UnstructuredObject | undefined, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    uid: 'u',
    operation: 'CREATE',
    resource: { group: 'controlplane.cluster.x-k8s.io', version: 'v1beta2', resource: 'kubeadmcontrolplanes' },
    subResource: '',
    requestVersion: 'v1beta2',
    name: 'cp',
    namespace: 'default',
    user: { name: 'someone', uid: '', groups: [] },
    dryRun: false,
    patchedBy: undefined,
    object,
    oldObject: undefined,
    ...more,
  };
}

function patched(object: UnstructuredObject, answer: AdmissionAnswer): UnstructuredObject {
  const patch = answer.allowed ? (answer.patch ?? []) : [];
  return applyJsonPatch(asJson(clone(object)), patch) as UnstructuredObject;
}

const withSpec = (object: UnstructuredObject, spec: JsonObject): UnstructuredObject => ({
  ...object,
  spec: { ...(object['spec'] as JsonObject), ...spec },
});

describe('the defaulting webhook', () => {
  it('answers with a patch that adds defaults, and without one where they are present', async () => {
    const first = patched(controlPlane, await mutate(request(controlPlane), options()));
    expect(first['spec']).toMatchObject({
      replicas: 1,
      version: 'v1.33.6',
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
    });
    expect(await mutate(request(first), options())).toMatchObject({ allowed: true, patch: [] });
  });

  it('keeps values that an update leaves out', async () => {
    const old = withSpec(controlPlane, { replicas: 3 });
    const answer = await mutate(request(controlPlane, { operation: 'UPDATE', oldObject: old }), options());
    expect(patched(controlPlane, answer)['spec']).toMatchObject({ replicas: 3 });
  });

  it('refuses a patch that drops entries, though defaults make it look whole', async () => {
    const variables = (values: Readonly<Record<string, number>>): UnstructuredObject => ({
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'c', namespace: 'default' },
      spec: {
        topology: {
          classRef: { name: 'class' },
          version: 'v1.33.6',
          variables: Object.entries(values).map(([name, value]) => ({ name, value })),
        },
      },
    });
    const filled: AdmissionOptions = {
      ...options(),
      rules: [
        {
          operations: ['UPDATE'],
          concerns: () => true,
          mutate: async ({ object }) => void Object.assign(object!, { spec: variables({ a: 1, b: 2, c: 3 })['spec'] }),
        },
      ],
    };
    const update = request(variables({ a: 1 }), {
      operation: 'UPDATE',
      resource: { group: 'cluster.x-k8s.io', version: 'v1beta2', resource: 'clusters' },
      oldObject: variables({ a: 1, b: 7, c: 3 }),
    });
    const answer = await mutate({ ...update, patchedBy: 'kubectl-patch' }, filled);
    expect(answer).toMatchObject({
      allowed: false,
      status: { message: expect.stringContaining('would drop the variables b. To remove') },
    });
    expect(await mutate(update, filled)).toMatchObject({ allowed: true });
  });

  it('answers in the version of the request', async () => {
    const old: UnstructuredObject = {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
      kind: 'KubeadmControlPlane',
      metadata: { name: 'cp', namespace: 'default' },
      spec: {
        version: '1.33.6',
        machineTemplate: {
          infrastructureRef: {
            apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
            kind: 'OpenStackMachineTemplate',
            name: 'cp',
          },
        },
        kubeadmConfigSpec: {},
      },
    };
    const made = patched(old, await mutate(request(old, { requestVersion: 'v1beta1' }), options()));
    expect(made.apiVersion).toBe('controlplane.cluster.x-k8s.io/v1beta1');
    expect(made['spec']).toMatchObject({ version: 'v1.33.6', rolloutStrategy: { type: 'RollingUpdate' } });
  });

  it('leaves objects with wrong types, deletes and subresources alone', async () => {
    const wrong = withSpec(controlPlane, { replicas: 'three' });
    expect(await mutate(request(wrong), options())).toEqual({ allowed: true });
    expect(await mutate(request(undefined, { operation: 'DELETE' }), options())).toEqual({ allowed: true });
    expect(await mutate(request(controlPlane, { subResource: 'status' }), options())).toEqual({ allowed: true });
  });
});

describe('the validating webhook', () => {
  const sound = withSpec(controlPlane, { replicas: 3, version: 'v1.33.6' });

  it('refuses with the status and the causes of an API server', async () => {
    const answer = await validate(request(withSpec(sound, { replicas: 2 })), options());
    expect(answer).toMatchObject({
      allowed: false,
      status: {
        code: 422,
        reason: 'Invalid',
        details: {
          group: 'controlplane.cluster.x-k8s.io',
          kind: 'KubeadmControlPlane',
          name: 'cp',
          causes: [{ reason: 'FieldValueForbidden', field: 'spec.replicas' }],
        },
      },
    });
    expect(await validate(request(sound), options())).toMatchObject({ allowed: true });
  });

  it('compares an update with the stored object', async () => {
    const next = withSpec(sound, { version: 'v1.35.0' });
    const answer = await validate(request(next, { operation: 'UPDATE', oldObject: sound }), options());
    expect(JSON.stringify(answer)).toContain('minor versions cannot be skipped');
  });

  it('validates an object in an old version by the schema of the hub', async () => {
    const unsound = withSpec(sound, { version: '' });
    expect(await validate(request(unsound, { requestVersion: 'v1beta2' }), options())).not.toMatchObject({
      status: { details: { causes: [{ field: 'spec.version', reason: 'FieldValueTooShort' }] } },
    });
    const answer = await validate(request(unsound, { requestVersion: 'v1beta1' }), options());
    expect(answer).toMatchObject({ allowed: false, status: { code: 422 } });
    expect(JSON.stringify(answer)).toContain('spec.version');
  });

  it('applies the rules of the object behind it to a scale', async () => {
    const scale = (replicas: number): AdmissionRequest =>
      request(
        {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: { name: 'cp', namespace: 'default' },
          spec: { replicas },
        },
        { operation: 'UPDATE', subResource: 'scale' },
      );
    expect(JSON.stringify(await validate(scale(2), options(sound)))).toContain('cannot be an even number');
    expect(await validate(scale(5), options(sound))).toEqual({ allowed: true });
  });

  it('passes warnings on', async () => {
    const template: UnstructuredObject = {
      apiVersion: 'openstack.k-orc.cloud/v1alpha1',
      kind: 'Image',
      metadata: { name: 'i', namespace: 'default' },
      spec: {},
    };
    const resource = { group: 'openstack.k-orc.cloud', version: 'v1alpha1', resource: 'images' };
    const answer = await validate(request(template, { resource, requestVersion: 'v1alpha1' }), options());
    const warned = ownDefinitions.find(({ kind }) => kind === 'Image')?.strategy.warnings?.(template) ?? [];
    expect(answer).toEqual({ allowed: true, warnings: warned });
  });
});

describe('rules that read other objects', () => {
  const rule: Rule = {
    concerns: ({ kind }) => kind === 'KubeadmControlPlane',
    operations: ['CREATE', 'DELETE'],
    mutate: async ({ object }) => {
      if (object) object.metadata.labels = { ...object.metadata.labels, seen: 'yes' };
    },
    validate: async ({ operation, name, warn }) => {
      warn('looked at');
      if (operation === 'DELETE') throw statusError.forbidden({ group: 'g', resource: 'r', name }, 'it is in use');
    },
  };
  const ruled = { ...options(), rules: [rule] };

  it('add defaults and warnings to a write after those of the kind', async () => {
    const made = patched(controlPlane, await mutate(request(controlPlane), ruled));
    expect(made).toMatchObject({ metadata: { labels: { seen: 'yes' } }, spec: { replicas: 1 } });
    expect(await validate(request(made), ruled)).toEqual({ allowed: true, warnings: ['looked at'] });
    const update = request(made, { operation: 'UPDATE', oldObject: made });
    expect(await validate(update, ruled), 'not asked about updates').toEqual({ allowed: true, warnings: [] });
  });

  it('can refuse a delete', async () => {
    const answer = await validate(request(undefined, { operation: 'DELETE', oldObject: controlPlane }), ruled);
    expect(answer).toMatchObject({
      allowed: false,
      status: { code: 403, message: expect.stringContaining('it is in use') },
    });
  });

  it('add the operations they need to the webhook configuration', () => {
    const definitions = ownDefinitions.filter(({ kind }) =>
      ['KubeadmControlPlane', 'Machine', 'Provider'].includes(kind),
    );
    const configuration = validatingConfiguration({
      definitions,
      endpoint: { url: 'https://127.0.0.1:1' },
      rules: [rule],
    });
    const asked = configuration.webhooks?.map(({ name, rules }) => [name, rules?.[0]?.operations]);
    expect(asked).toEqual([
      ['validation.machine.cluster.x-k8s.io', ['CREATE', 'UPDATE']],
      ['validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io', ['CREATE', 'UPDATE', 'DELETE']],
    ]);
  });
});

describe('an AdmissionReview', () => {
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'abc',
      kind: { group: 'g', version: 'v1beta2', kind: 'K' },
      requestKind: { group: 'g', version: 'v1beta1', kind: 'K' },
      resource: { group: 'g', version: 'v1beta2', resource: 'ks' },
      operation: 'UPDATE',
      name: 'n',
      namespace: 'ns',
      userInfo: { username: 'u', groups: ['a', 'b'] },
      object: { apiVersion: 'g/v1beta2', kind: 'K', metadata: { name: 'n' } },
      oldObject: null,
    },
  };

  it('is parsed as far as it is used', () => {
    expect(parseAdmissionReview(review)).toMatchObject({
      uid: 'abc',
      operation: 'UPDATE',
      requestVersion: 'v1beta1',
      user: { name: 'u', groups: ['a', 'b'] },
      dryRun: false,
      patchedBy: undefined,
      oldObject: undefined,
    });
    // kube-apiserver sends UpdateOptions to webhooks for patches.
    for (const kind of ['PatchOptions', 'UpdateOptions']) {
      const patch = { ...review.request, options: { kind, fieldManager: 'kubectl-patch' } };
      expect(parseAdmissionReview({ ...review, request: patch })).toMatchObject({ patchedBy: 'kubectl-patch' });
    }
  });

  it.each([
    ['another kind', { ...review, kind: 'TokenReview' }],
    ['an old version', { ...review, apiVersion: 'admission.k8s.io/v1beta1' }],
    ['no request', { ...review, request: undefined }],
    ['no uid', { ...review, request: { ...review.request, uid: '' } }],
    ['an unknown operation', { ...review, request: { ...review.request, operation: 'LOOK' } }],
    ['an object that is none', { ...review, request: { ...review.request, object: [] } }],
    [
      'an object without metadata',
      { ...review, request: { ...review.request, object: { apiVersion: 'a', kind: 'b' } } },
    ],
    ['nothing', undefined],
  ])('is refused with %s', (_what, body) => {
    expect(() => parseAdmissionReview(body)).toThrow();
  });

  it('is answered with its uid and the encoded patch', () => {
    const answer = admissionReviewOf(
      { uid: 'abc' },
      { allowed: true, patch: [{ op: 'remove', path: '/x' }], warnings: ['w'] },
    );
    expect(answer).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: 'abc',
        allowed: true,
        warnings: ['w'],
        patchType: 'JSONPatch',
        patch: Buffer.from('[{"op":"remove","path":"/x"}]').toString('base64'),
      },
    });
  });
});
