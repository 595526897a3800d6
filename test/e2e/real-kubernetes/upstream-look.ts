import type { CloudView } from '../../support/cloud-view.ts';

// Makes a management cluster look like one of upstream's controllers, to test adoption without them.

type Run = (...args: string[]) => Promise<string>;

interface Managed {
  readonly namespace: string;
  readonly name: string;
  readonly provider: string;
  readonly image: string;
}

const managers: readonly Managed[] = [
  {
    namespace: 'capi-system',
    name: 'capi-controller-manager',
    provider: 'cluster-api',
    image: 'registry.k8s.io/cluster-api/cluster-api-controller:v1.14.2',
  },
  {
    namespace: 'capo-system',
    name: 'capo-controller-manager',
    provider: 'infrastructure-openstack',
    image: 'registry.k8s.io/capi-openstack/capi-openstack-controller:v0.15.0',
  },
];
/** groups of kinds that upstream has too */
const groups = /\.(cluster|bootstrap\.cluster|controlplane\.cluster|infrastructure\.cluster)\.x-k8s\.io$/;
const ownLabels = ['app.kubernetes.io/name', 'app.kubernetes.io/part-of'];
const ownAnnotations = ['owner-mark', 'api-floating-ip-id', 'server-seen-in'];

/** Returns the names of the definitions that now look like upstream's. */
export async function lookAsUpstream(
  run: Run,
  apply: (manifest: object) => Promise<unknown>,
  cloud: CloudView,
): Promise<string[]> {
  for (const manager of managers) await apply({ apiVersion: 'v1', kind: 'List', items: managerObjects(manager) });
  const names = (await run('get', 'crds', '-l', 'app.kubernetes.io/part-of=capstan', '-o', 'name'))
    .trim()
    .split('\n')
    .map((name) => name.replace(/^.*\//, ''));
  const theirs = names.filter((name) => groups.test(name));
  const others = names.filter((name) => !groups.test(name));
  // Kinds that upstream does not have.
  await run('delete', 'crds', ...others);
  const annotation = 'cert-manager.io/inject-ca-from=capi-system/capi-serving-cert';
  await run('label', 'crds', ...theirs, ...ownLabels.map((label) => `${label}-`));
  await run('annotate', 'crds', ...theirs, annotation);
  for (const kind of ['openstackclusters', 'openstackmachines', 'openstackservers']) {
    const annotations = ownAnnotations.map((name) => `infrastructure.cluster.x-k8s.io/${name}-`);
    await run('annotate', kind, '--all', ...annotations);
  }
  for (const { id, description } of (await cloud.inventory()).floatingIps) {
    const unmarked = description.replace(/ \[owner .*\]$/, '');
    await cloud.openstack.network.floatingIps.update(id, { description: unmarked });
  }
  await run('delete', 'namespace', 'capstan-system', '--wait');
  return theirs;
}

/** Removes the simulated upstream objects. */
export async function removeUpstream(run: Run, definitions: readonly string[]): Promise<void> {
  await run('delete', 'namespace', ...managers.map(({ namespace }) => namespace), '--ignore-not-found');
  for (const kind of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    await run('delete', kind, '-l', 'cluster.x-k8s.io/provider');
  }
  if (definitions.length > 0) await run('delete', 'crds', '--ignore-not-found', ...definitions);
}

function managerObjects({ namespace, name, provider, image }: Managed): object[] {
  const labels = { 'cluster.x-k8s.io/provider': provider };
  const podLabels = { ...labels, 'control-plane': name };
  const service = { namespace, name: `${provider}-webhook-service` };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace, name, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: podLabels },
        template: {
          metadata: { labels: podLabels },
          spec: {
            // The Pod never runs, because capstan's controllers did its work.
            schedulerName: 'nobody',
            containers: [{ name: 'manager', image, args: ['--leader-elect', '--feature-gates=ClusterTopology=true'] }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...service, labels },
      spec: { selector: podLabels, ports: [{ port: 443, targetPort: 9443 }] },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: {
        name: `${provider}-validating-webhook-configuration`,
        labels,
        annotations: { 'cert-manager.io/inject-ca-from': `${namespace}/serving-cert` },
      },
      webhooks: [
        {
          name: `validation.test.${provider}.x-k8s.io`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { service: { ...service, path: '/validate' }, caBundle: 'eA==' },
          // Matches nothing, because no server handles it.
          rules: [
            { apiGroups: ['test.example.org'], apiVersions: ['v1'], resources: ['nothing'], operations: ['CREATE'] },
          ],
        },
      ],
    },
  ];
}
