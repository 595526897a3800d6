import { X509Certificate } from 'node:crypto';
import { PersistentVolumeClaims, type Pod, Pods, Secrets, Services } from '../../../api/index.ts';
import { humanDuration, parseRfc3339 } from '../../../machinery/index.ts';
import { conditionsOf, isBad } from '../../describe/conditions.ts';
import { type AnyObject, argumentOf, at, textAt } from '../../describe/fields.ts';
import { remainsOf } from '../../describe/remains.ts';
import { causeOfCluster } from '../../why/first-cause.ts';
import { failed, fine, type Seen, warned } from '../findings.ts';
import { soonMs, validity } from './expiry.ts';
import { faultsOf } from './pod-faults.ts';
import type { Check } from './run-checks.ts';
import type { ManagedCluster } from './subject.ts';

export const managementSideChecks: readonly Check<ManagedCluster>[] = [
  { name: 'cluster', look: checkCluster },
  { name: 'deletions', look: checkDeletions },
  { name: 'control plane', look: checkControlPlane },
  { name: 'certificates', look: checkCertificates },
  { name: 'add-ons', look: checkAddOns },
];

/** Returns the root cause if the cluster is blocked. */
function checkCluster({ found }: ManagedCluster): Seen {
  const cause = causeOfCluster(found);
  if (!cause) return fine('nothing holds it up');
  const seen = cause.reason === 'Paused' ? warned : failed;
  return seen(`${cause.object} (${cause.reason}): ${cause.message}`, cause.next);
}

/** Longer than draining and deleting a machine usually takes. */
const deletionPatienceMs = 15 * 60_000;

function checkDeletions({ found, nowMs }: ManagedCluster): Seen | Seen[] {
  const { cluster, objects } = found;
  const late = [cluster, ...objects].flatMap((object) => {
    const since = parseRfc3339(object.metadata.deletionTimestamp ?? '');
    return since === undefined || nowMs - since < deletionPatienceMs ? [] : [{ object, ageMs: nowMs - since }];
  });
  if (late.length === 0) return fine('none that takes long');
  const { reasons } = remainsOf(found);
  return late.map(({ object, ageMs }) => {
    const { kind, metadata } = object;
    const name = `${kind}/${metadata.name ?? ''}`;
    const why = reasons.find((reason) => reason.startsWith(`${name}:`))?.slice(name.length + 2) ?? messageOf(object);
    const keeps = ((at(object, 'metadata', 'finalizers') ?? []) as readonly string[]).join(', ');
    return warned(
      `${name} has been in deletion for ${humanDuration(ageMs)}${why === undefined ? '' : `: ${why}`}`,
      keeps === ''
        ? 'the garbage collector removes it'
        : `the finalizers ${keeps} wait for their controllers; removing them by hand leaves resources in the cloud`,
    );
  });
}

const messageOf = (object: AnyObject): string | undefined =>
  conditionsOf(object, 'modern').find((condition) => isBad(condition) && (condition.message ?? '') !== '')?.message;

/** Checks a control plane on machines by its conditions, and one in Pods by its workloads here. */
async function checkControlPlane(subject: ManagedCluster, signal: AbortSignal): Promise<Seen[]> {
  const plane = planeOf(subject);
  const seen: Seen[] = [];
  for (const condition of plane ? conditionsOf(plane, 'modern') : []) {
    if (
      !isBad(condition) ||
      !/^(?:Etcd|ControlPlaneComponents|CertificatesAvailable|Available|EtcdClusterHealthy)/.test(condition.type)
    )
      continue;
    const { type, reason = type, message = '' } = condition;
    seen.push(
      failed(
        `${type}: ${message === '' ? reason : message}`,
        plane ? `kubectl describe ${plane.kind.toLowerCase()} ${argumentOf(plane)}` : '',
      ),
    );
  }
  const pods = await podsOf(subject, signal);
  if (plane && hostedKinds.has(plane.kind) && pods.length === 0 && seen.length === 0) {
    seen.push(
      failed(
        `${plane.kind} ${plane.metadata.name} has no Pods, without a reported reason`,
        'its controller does not run: start it with capstan up or capstan install; kubectl get pods -A shows other controllers',
      ),
    );
  }
  for (const pod of pods) seen.push(...faultsOf(pod));
  seen.push(...(await checkVolumes(subject, pods, signal)), ...(await checkServices(subject, signal)));
  if (seen.length > 0) return seen;
  return [
    fine(
      pods.length > 0
        ? `${pods.length} Pods, all Ready`
        : `${plane?.kind ?? 'no control plane of its own'} ${plane?.metadata.name ?? ''}`.trim(),
    ),
  ];
}

const hostedKinds: ReadonlySet<string> = new Set(['K0smotronControlPlane', 'KamajiControlPlane', 'HostedControlPlane']);

function planeOf({ found }: ManagedCluster): AnyObject | undefined {
  const kind = textAt(found.cluster, 'spec', 'controlPlaneRef', 'kind');
  const name = textAt(found.cluster, 'spec', 'controlPlaneRef', 'name');
  return found.objects.find((object) => object.kind === kind && object.metadata.name === name);
}

/** Selects the parts of a control plane in Pods by the label of all three providers. */
const labelledFor = ({ namespace, name }: ManagedCluster): { namespace: string; labelSelector: string } => ({
  namespace,
  labelSelector: `cluster.x-k8s.io/cluster-name=${name}`,
});

async function podsOf(subject: ManagedCluster, signal: AbortSignal): Promise<readonly Pod[]> {
  const { items } = await subject.client.list(Pods, { ...labelledFor(subject), signal });
  return items;
}

/** Checks claims mounted by control plane Pods. Name prefixes would also match clusters with longer names. */
async function checkVolumes(
  { client, namespace }: ManagedCluster,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<Seen[]> {
  const claimed = new Set(
    pods.flatMap(({ spec }) => (spec?.volumes ?? []).map((volume) => volume.persistentVolumeClaim?.claimName)),
  );
  if (claimed.size === 0) return [];
  const { items } = await client.list(PersistentVolumeClaims, { namespace, signal });
  return items
    .filter(({ metadata, status }) => status?.phase !== 'Bound' && claimed.has(metadata.name))
    .map(({ metadata, spec }) =>
      failed(
        `PersistentVolumeClaim ${metadata.name} is Pending: ${spec?.storageClassName === undefined ? 'there is no default StorageClass' : `no volume was created for StorageClass ${spec.storageClassName}`}`,
        'the management cluster needs a running CSI driver, with mounted credentials and the right kubelet directory, and a default StorageClass: kubectl get storageclass',
      ),
    );
}

async function checkServices(subject: ManagedCluster, signal: AbortSignal): Promise<Seen[]> {
  const { items } = await subject.client.list(Services, { ...labelledFor(subject), signal });
  return items
    .filter(({ spec, status }) => spec?.type === 'LoadBalancer' && !status?.loadBalancer?.ingress?.length)
    .map(({ metadata }) =>
      failed(
        `Service ${metadata.name} waits for an address`,
        'the management cluster needs a load balancer implementation: the OpenStack cloud controller manager with Octavia, or MetalLB',
      ),
    );
}

const authorities = ['ca', 'etcd', 'proxy', 'sa'] as const;
const renewAuthority = 'new authorities mean new certificates everywhere: see the guide to day two';

async function checkCertificates(subject: ManagedCluster, signal: AbortSignal): Promise<Seen[]> {
  const { client, namespace, name, nowMs, machines } = subject;
  const seen: Seen[] = [];
  const { items } = await client.list(Secrets, {
    namespace,
    labelSelector: `cluster.x-k8s.io/cluster-name=${name}`,
    signal,
  });
  for (const suffix of authorities) {
    const secret = items.find(({ metadata }) => metadata.name === `${name}-${suffix}`);
    const pem = secret?.data?.['tls.crt'];
    const until = pem === undefined ? undefined : endOf(Buffer.from(pem, 'base64').toString());
    if (until !== undefined) seen.push(validity(`authority ${name}-${suffix}`, until, { nowMs, cure: renewAuthority }));
  }
  for (const machine of machines) {
    const until = Date.parse(textAt(machine, 'status', 'certificatesExpiryDate') ?? '');
    if (Number.isNaN(until) || until - nowMs >= soonMs) continue;
    const what = `the certificates of machine ${machine.metadata.name}`;
    seen.push(
      validity(what, until, {
        nowMs,
        cure: 'set rollout.before.certificatesExpiryDays of the control plane, or start a rollout now: clusterctl alpha rollout restart',
      }),
    );
  }
  const bad = seen.filter(({ status }) => status !== 'ok');
  return bad.length > 0 ? bad : seen.slice(0, 1).concat(seen.length === 0 ? [fine('none of our keeping')] : []);
}

function endOf(pem: string): number | undefined {
  try {
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return undefined;
  }
}

/** Checks add-ons of a stack and ClusterResourceSets. */
async function checkAddOns({ found }: ManagedCluster): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const object of found.objects) {
    if (object.kind === 'ClusterAddon') {
      const bad = conditionsOf(object, 'modern').find(
        (condition) => isBad(condition) && (condition.message ?? '') !== '',
      );
      if (bad)
        seen.push(
          failed(
            `ClusterAddon ${object.metadata.name}: ${bad.message}`,
            `kubectl describe clusteraddon ${argumentOf(object)}`,
          ),
        );
    }
    if (object.kind !== 'ClusterResourceSetBinding') continue;
    for (const binding of (at(object, 'spec', 'bindings') ?? []) as {
      clusterResourceSetName?: string;
      resources?: { kind: string; name: string; applied?: boolean }[];
    }[]) {
      const missing = (binding.resources ?? []).filter(({ applied }) => applied !== true);
      for (const { kind, name } of missing) {
        seen.push(
          failed(
            `ClusterResourceSet ${binding.clusterResourceSetName}: ${kind} ${name} is not applied`,
            `kubectl describe clusterresourceset ${binding.clusterResourceSetName} -n ${object.metadata.namespace} shows why`,
          ),
        );
      }
    }
  }
  const count = found.objects.filter(({ kind }) => kind === 'ClusterAddon' || kind === 'ClusterResourceSet').length;
  return seen.length > 0 ? seen : [fine(count === 0 ? 'none of our keeping' : `${count} of them`)];
}
