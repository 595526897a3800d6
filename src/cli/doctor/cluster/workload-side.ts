import {
  CsiDrivers,
  DaemonSets,
  Deployments,
  type Node,
  Nodes,
  PersistentVolumeClaims,
  Pods,
  type Secret,
  Secrets,
  StorageClasses,
} from '../../../api/index.ts';
import {
  compareKubernetesVersions,
  errorMessage,
  formatYaml,
  isJsonObject,
  type KubeObject,
  type KubernetesVersion,
  parseKubernetesVersion,
  parseYaml,
  type Resource,
  withLeadingV,
} from '../../../machinery/index.ts';
import { cloudFromText, connect } from '../../../openstack/index.ts';
import { cloudEntryOf, confFlag, parseCloudConf } from '../../../simkube/index.ts';
import { type AnyObject, argumentOf, textAt } from '../../describe/fields.ts';
import { checkLoadBalancers } from '../../init/load-balancer-check.ts';
import { defaultClass } from '../../init/management-checks.ts';
import { failed, fine, type Seen, skipped, warned } from '../findings.ts';
import { faultsOf } from './pod-faults.ts';
import type { Check } from './run-checks.ts';
import type { RunningCluster } from './subject.ts';

/** Problems inside a cluster that no condition of the management API shows. */
export const insideChecks: readonly Check<RunningCluster>[] = [
  { name: 'network plugin', look: checkNetworkPlugin },
  { name: 'cloud controller', look: checkCloudController },
  { name: 'cloud credentials', look: checkCredentials },
];

export const workloadSideChecks: readonly Check<RunningCluster>[] = [
  { name: 'workload API', look: checkApi },
  { name: 'nodes', look: checkNodes },
  { name: 'versions', look: checkVersions },
  ...insideChecks,
  { name: 'system Pods', look: checkPods },
  { name: 'storage', look: checkStorage },
  { name: 'load balancers', look: checkServices },
];

const list = async <T extends KubeObject>(
  { workload }: RunningCluster,
  resource: Resource<T>,
  options: { namespace?: string; signal: AbortSignal },
): Promise<readonly T[]> => (await workload.list(resource, options)).items;

async function checkApi({ read }: RunningCluster, signal: AbortSignal): Promise<Seen> {
  const body = await read('/readyz', signal);
  return body.trim() === 'ok' ? fine('it reports that it is ready') : failed(`/readyz answers ${body.trim()}`);
}

const readyOf = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready');
const nameOf = ({ metadata }: KubeObject | AnyObject): string => metadata.name ?? '';

/** Compares nodes with machines in both directions. */
async function checkNodes(subject: RunningCluster, signal: AbortSignal): Promise<Seen[]> {
  const nodes = await list(subject, Nodes, { signal });
  const seen: Seen[] = [];
  for (const machine of subject.machines) {
    if (machine.metadata.deletionTimestamp !== undefined) continue;
    const node = textAt(machine, 'status', 'nodeRef', 'name');
    const name = nameOf(machine);
    if (node === undefined)
      seen.push(warned(`machine ${name} has no Node`, `capstan why machine ${argumentOf(machine)}`));
    else if (!nodes.some((one) => nameOf(one) === node)) {
      seen.push(
        failed(
          `Node ${node} of machine ${name} is gone`,
          `replace it with kubectl delete machine ${argumentOf(machine)}`,
        ),
      );
    }
  }
  const known = new Set(subject.machines.map((machine) => textAt(machine, 'status', 'nodeRef', 'name')));
  for (const node of nodes) {
    const name = nameOf(node);
    const ready = readyOf(node);
    if (subject.machines.length > 0 && !known.has(name)) {
      seen.push(
        warned(
          `Node ${name} belongs to no machine`,
          `kubectl delete node ${name} in the cluster, unless it was joined on purpose`,
        ),
      );
    }
    if (ready?.status === 'Unknown') {
      seen.push(
        failed(
          `Node ${name} does not report: ${ready.message ?? ''}`,
          'its machine, its kubelet or the network between them failed: check its console',
        ),
      );
    } else if (ready?.status !== 'True') {
      seen.push(
        failed(
          `Node ${name} is not Ready: ${ready?.message ?? 'it has not reported yet'}`,
          cureOfNode(ready?.message ?? '', name),
        ),
      );
    }
    for (const { type, status, message } of node.status?.conditions ?? []) {
      if (!type.endsWith('Pressure') || status !== 'True') continue;
      seen.push(
        warned(`Node ${name} has ${type}: ${message ?? ''}`, 'use a larger flavor or volume, or more machines'),
      );
    }
  }
  return seen.length > 0 ? seen : [fine(`${nodes.length} of ${subject.machines.length || nodes.length} Ready`)];
}

const installPlugin = 'install a network plugin in the cluster, such as Cilium or flannel';

const missesPlugin = (message: string): boolean => /cni|network plugin|NetworkPluginNotReady/i.test(message);

function cureOfNode(message: string, name: string): string {
  if (missesPlugin(message)) return installPlugin;
  return `kubectl describe node ${name} shows more`;
}

/** Version skew that Kubernetes allows between kubelets and API server. */
const mostBehind = 3;

async function checkVersions(subject: RunningCluster, signal: AbortSignal): Promise<Seen[]> {
  const body = await subject.read('/version', signal);
  const said = parseYaml(body).value;
  const api = version(isJsonObject(said) && typeof said['gitVersion'] === 'string' ? said['gitVersion'] : '');
  const seen: Seen[] = [];
  for (const node of await list(subject, Nodes, { signal })) {
    const kubelet = version(node.status?.nodeInfo?.kubeletVersion ?? '');
    if (!api || !kubelet) continue;
    const both = `Node ${nameOf(node)} runs ${written(kubelet)}, the API ${written(api)}`;
    if (compareKubernetesVersions(kubelet, { ...api, patch: Number.MAX_SAFE_INTEGER }) > 0) {
      seen.push(failed(`${both}: a kubelet must not be newer`, 'upgrade the control plane'));
    } else if (api.minor - kubelet.minor > mostBehind) {
      seen.push(failed(`${both}: more than ${mostBehind} minor versions behind`, 'upgrade the machine'));
    }
    const machine = subject.machines.find((one) => textAt(one, 'status', 'nodeRef', 'name') === nameOf(node));
    const wanted = version(textAt(machine, 'spec', 'version') ?? '');
    if (wanted && compareKubernetesVersions(wanted, kubelet) !== 0) {
      seen.push(
        warned(
          `Node ${nameOf(node)} runs ${written(kubelet)}, its machine wants ${written(wanted)}`,
          'the image has another version than the manifest: name an image of that version (capstan get images)',
        ),
      );
    }
  }
  return seen.length > 0 ? seen : [fine(api ? written(api) : 'not told')];
}

const version = (text: string): KubernetesVersion | undefined => parseKubernetesVersion(withLeadingV(text));
const written = ({ major, minor, patch }: KubernetesVersion): string => `v${major}.${minor}.${patch}`;

/** Parts of workload names of network plugins. */
const plugins = ['cilium', 'calico', 'flannel', 'canal', 'weave', 'kube-router', 'antrea', 'kube-ovn', 'ovnkube'];

async function checkNetworkPlugin(subject: RunningCluster, signal: AbortSignal): Promise<Seen> {
  const sets = await list(subject, DaemonSets, { signal });
  const plugin = sets.find((set) => plugins.some((name) => nameOf(set).includes(name)));
  const nodes = await list(subject, Nodes, { signal });
  const waiting = nodes.filter((node) => missesPlugin(readyOf(node)?.message ?? ''));
  if (!plugin) {
    if (waiting.length > 0) return failed(`there is none, and ${waiting.length} Nodes wait for it`, installPlugin);
    return nodes.length === 0 ? skipped('there are no Nodes yet') : fine('none that is known, and no Node misses one');
  }
  const { desiredNumberScheduled = 0, numberReady = 0 } = plugin.status ?? {};
  const where = `DaemonSet ${plugin.metadata.namespace}/${nameOf(plugin)}`;
  const count = `${where}: ${numberReady} of ${desiredNumberScheduled} Ready`;
  return numberReady < desiredNumberScheduled
    ? failed(count, `kubectl -n ${plugin.metadata.namespace} logs daemonset/${nameOf(plugin)}`)
    : fine(count);
}

const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized';

async function checkCloudController(subject: RunningCluster, signal: AbortSignal): Promise<Seen> {
  const [nodes, sets, deployments] = await Promise.all([
    list(subject, Nodes, { signal }),
    list(subject, DaemonSets, { signal }),
    list(subject, Deployments, { signal }),
  ]);
  const controller = [...sets, ...deployments].find((one) =>
    /cloud-controller-manager|(?:^|-)ccm(?:-|$)/.test(nameOf(one)),
  );
  const tainted = nodes.filter(({ spec }) => spec?.taints?.some(({ key }) => key === uninitialized));
  if (tainted.length > 0) {
    const names = tainted.map(nameOf).join(', ');
    if (!controller) {
      return failed(
        `there is none, and ${names} cannot be used without it (taint ${uninitialized})`,
        'install the OpenStack cloud controller manager in the cluster, with credentials of the cloud',
      );
    }
    return failed(
      `${names}: not initialised by ${nameOf(controller)} (taint ${uninitialized})`,
      `look at its credentials below, then kubectl -n ${controller.metadata.namespace} logs ${controller.kind?.toLowerCase() ?? 'daemonset'}/${nameOf(controller)}; its Pods must tolerate the taint and need no label of control planes where those are no Nodes`,
    );
  }
  return fine(
    controller
      ? `${controller.metadata.namespace}/${nameOf(controller)}, all Nodes initialised`
      : 'there is none, and no Node waits for it',
  );
}

interface FoundCredentials {
  readonly where: string;
  readonly cloudsYaml: string;
  readonly cloud: string | undefined;
}

/** Tries every clouds.yaml and cloud.conf of kube-system against the cloud of the cluster. */
async function checkCredentials(subject: RunningCluster, signal: AbortSignal): Promise<Seen[]> {
  const secrets = await list(subject, Secrets, { namespace: 'kube-system', signal });
  const all = secrets.flatMap(credentialsIn);
  const missing = await mountedAndMissing(subject, secrets, signal);
  const seen = await Promise.all(all.map((found) => ('status' in found ? found : tryOut(subject, found, signal))));
  const found = [...missing, ...seen];
  return found.length > 0
    ? found
    : [fine('there are none in Secrets of kube-system: what needs them reads files of its machine')];
}

const text = (secret: Secret, key: string): string | undefined => {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
};

function credentialsIn(secret: Secret): (FoundCredentials | Seen)[] {
  const found: (FoundCredentials | Seen)[] = [];
  const conf = text(secret, 'cloud.conf');
  const clouds = text(secret, 'clouds.yaml');
  if (clouds !== undefined)
    found.push({ where: `Secret ${nameOf(secret)}, clouds.yaml`, cloudsYaml: clouds, cloud: undefined });
  if (conf === undefined) return found;
  const where = `Secret ${nameOf(secret)}, cloud.conf`;
  try {
    const parsed = parseCloudConf(conf);
    // The credentials are in another file, which has a check of its own.
    if (confFlag(parsed, 'global', 'use-clouds')) return found;
    return [
      ...found,
      { where, cloudsYaml: formatYaml({ clouds: { openstack: cloudEntryOf(parsed) } }), cloud: 'openstack' },
    ];
  } catch (error) {
    return [...found, failed(`${where}: ${errorMessage(error)}`, 'write the Secret again')];
  }
}

async function tryOut({ authUrl }: RunningCluster, found: FoundCredentials, signal: AbortSignal): Promise<Seen> {
  const { where, cloudsYaml } = found;
  try {
    const config = await cloudFromText({
      text: cloudsYaml,
      source: where,
      cloud: found.cloud ?? onlyCloud(cloudsYaml),
    });
    if (config.authUrl !== authUrl)
      return skipped(`${where}: they are for ${config.authUrl}, which is not asked from here`);
    const cloud = connect(config, {});
    try {
      const { user, project } = await cloud.identity.whoami({ signal });
      return fine(`${where}: user ${user.name}${project ? `, project ${project.name}` : ''}`);
    } finally {
      await cloud.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    return failed(
      `${where}: ${errorMessage(error)}`,
      'put credentials that work into it; cloud controller and volumes stand still without',
    );
  }
}

/** Returns the cloud that a chart would use: the only one, or `openstack`. */
function onlyCloud(cloudsYaml: string): string {
  const { value } = parseYaml(cloudsYaml);
  const clouds = isJsonObject(value) ? value['clouds'] : undefined;
  const [first, ...more] = isJsonObject(clouds) ? Object.keys(clouds) : [];
  return first !== undefined && more.length === 0 ? first : 'openstack';
}

/** Finds missing Secrets that programs of kube-system mount; their Pods wait for them without an error. */
async function mountedAndMissing(
  subject: RunningCluster,
  secrets: readonly Secret[],
  signal: AbortSignal,
): Promise<Seen[]> {
  const there = new Set(secrets.map(nameOf));
  const options = { namespace: 'kube-system', signal };
  const workloads = [...(await list(subject, DaemonSets, options)), ...(await list(subject, Deployments, options))];
  return workloads.flatMap((workload) => {
    const volumes = workload.spec?.template?.spec?.volumes ?? [];
    return volumes.flatMap(({ secret }) => {
      const name = secret?.secretName;
      if (
        name === undefined ||
        secret?.optional === true ||
        there.has(name) ||
        !/cloud|openstack|cinder/.test(`${name} ${nameOf(workload)}`)
      )
        return [];
      const file = /conf/.test(name) && !/openstack/.test(name) ? 'cloud.conf' : 'clouds.yaml';
      return [
        failed(
          `Secret kube-system/${name} is not there, and ${nameOf(workload)} needs it`,
          `kubectl -n kube-system create secret generic ${name} --from-file=${file} in the cluster, or let a ClusterResourceSet bring it`,
        ),
      ];
    });
  });
}

/** Finds add-ons that crash or whose image cannot be pulled. */
async function checkPods(subject: RunningCluster, signal: AbortSignal): Promise<Seen[]> {
  const pods = await list(subject, Pods, { namespace: 'kube-system', signal });
  const seen = pods.flatMap(faultsOf);
  return seen.length > 0 ? seen : [fine(`${pods.length} in kube-system, all Ready`)];
}

const kubeletDirectories = { k0s: '/var/lib/k0s/kubelet', others: '/var/lib/kubelet' } as const;

/** Finds drivers that mount volumes outside the directory of their kubelet. */
async function wrongDirectories(subject: RunningCluster, signal: AbortSignal): Promise<Seen[]> {
  const nodes = await list(subject, Nodes, { signal });
  const [first] = nodes;
  if (!first) return [];
  const isK0s = /k0s/.test(first.status?.nodeInfo?.kubeletVersion ?? '');
  const [right, wrong] = isK0s
    ? [kubeletDirectories.k0s, kubeletDirectories.others]
    : [kubeletDirectories.others, kubeletDirectories.k0s];
  return (await list(subject, DaemonSets, { signal }))
    .filter((set) => /csi/.test(nameOf(set)))
    .filter((set) => {
      const paths = (set.spec?.template?.spec?.volumes ?? []).map(({ hostPath }) => hostPath?.path ?? '');
      return paths.some((path) => path === wrong || path.startsWith(`${wrong}/`));
    })
    .map((set) =>
      failed(
        `DaemonSet ${set.metadata.namespace}/${nameOf(set)} mounts volumes below ${wrong}, kubelets here look below ${right}`,
        `set csi.plugin.nodePlugin.kubeletDir of the chart to ${right}`,
      ),
    );
}

async function checkStorage(subject: RunningCluster, signal: AbortSignal): Promise<Seen[]> {
  const [classes, drivers, claims] = await Promise.all([
    list(subject, StorageClasses, { signal }),
    list(subject, CsiDrivers, { signal }),
    list(subject, PersistentVolumeClaims, { signal }),
  ]);
  const seen: Seen[] = await wrongDirectories(subject, signal);
  const usual = classes.filter(({ metadata }) => metadata.annotations?.[defaultClass] === 'true');
  if (usual.length > 1)
    seen.push(
      warned(
        `${usual.length} StorageClasses are the default: ${usual.map(nameOf).join(', ')}`,
        'keep the annotation on one',
      ),
    );
  for (const claim of claims) {
    if (claim.status?.phase === 'Bound') continue;
    const wanted = claim.spec?.storageClassName;
    const there = classes.find((one) => nameOf(one) === wanted);
    if (there && (there as { volumeBindingMode?: string }).volumeBindingMode === 'WaitForFirstConsumer') continue;
    const why =
      wanted === undefined
        ? 'there is no default StorageClass'
        : there
          ? `no volume was created for StorageClass ${wanted}`
          : `there is no StorageClass ${wanted}`;
    seen.push(
      failed(
        `PersistentVolumeClaim ${claim.metadata.namespace}/${nameOf(claim)} is ${claim.status?.phase ?? 'Pending'}: ${why}`,
        'the CSI driver must run and have its credentials; on nodes of k0s its kubelet directory is /var/lib/k0s/kubelet (csi.plugin.nodePlugin.kubeletDir)',
      ),
    );
  }
  if (seen.length > 0) return seen;
  if (classes.length === 0)
    return [
      warned(
        'there is no StorageClass: claims of volumes wait for ever',
        'install the Cinder CSI driver with a StorageClass, if the cluster is to have volumes',
      ),
    ];
  const of = drivers.length === 0 ? '' : `, drivers ${drivers.map(nameOf).join(', ')}`;
  return [
    usual.length === 0
      ? warned(
          `no StorageClass is the default (there is ${classes.map(nameOf).join(', ')})`,
          'make one the default, or name it in each claim',
        )
      : fine(`${usual.map(nameOf).join(', ')} (default)${of}`),
  ];
}

async function checkServices({ workload, nowMs }: RunningCluster, signal: AbortSignal): Promise<Seen> {
  const { status, detail } = await checkLoadBalancers(workload, nowMs, signal);
  return { status, detail };
}
