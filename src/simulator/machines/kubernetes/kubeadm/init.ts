import { type Node, Nodes } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { asJson, isNotFound, type JsonObject, must } from '../../../../machinery/index.ts';
import { issueCertificate } from '../../../../pki/index.ts';
import { renderKubeconfig } from '../../../../simkube/index.ts';
import { installedVersion } from '../installed.ts';
import { writeEtcdData } from '../kubelet/control-plane.ts';
import { coreDns, kubeProxy } from './addons.ts';
import { type ControlPlanePki, ensureControlPlanePki } from './certificates.ts';
import {
  controlPlaneChecks,
  fileChecks,
  type KubeadmContext,
  type PreflightCheck,
  runPreflight,
  skippedPhases,
} from './context.ts';
import {
  type BootstrapToken,
  type ClusterConfiguration,
  type Documents,
  type InitSettings,
  type NodeRegistration,
  readCluster,
  readInit,
} from './documents.ts';
import { ensureObjects } from './ensure-object.ts';
import { KubeadmFailure } from './failure.ts';
import { kubeletConfiguration, nodeNameOf, registrationTaints, writeKubeletFiles } from './kubelet-start.ts';
import { writeManifests } from './manifests.ts';
import { controlPlaneMarks } from './marks.ts';
import { bootstrapTokenGroup, controlPlaneComponents, manifestPath, paths } from './names.ts';
import {
  adminBinding,
  bootstrapRules,
  clusterInfo,
  tokenSecret,
  uploadedClusterConfiguration,
  uploadedKubeletConfiguration,
} from './uploads.ts';
import { type KubernetesVersion, parseVersion, skewProblem } from './version.ts';

const fieldManager = 'kubeadm';
const nodePollMs = 500;
const nodePatienceMs = 4 * 60_000;

/** State shared by the phases of one init. */
interface InitRun {
  readonly context: KubeadmContext;
  readonly settings: InitSettings;
  readonly cluster: ClusterConfiguration;
  readonly documents: Documents;
  readonly version: KubernetesVersion;
  readonly nodeName: string;
  readonly advertiseAddress: string;
  /** https://host:port of the API for other machines */
  readonly endpoint: string;
}

/** Runs `kubeadm init`, which creates the first control-plane machine of a cluster. */
export async function kubeadmInit(context: KubeadmContext, documents: Documents): Promise<void> {
  const run = prepare(context, documents);
  const { settings } = run;
  const { say } = context;
  const isSkipped = skippedPhases(context, settings.skipPhases);
  say(`[init] Using Kubernetes version: ${run.version.text}`);
  if (!isSkipped('preflight')) runPreflight(context, checks(run), ignoredIn(documents.init));
  const pki = await ensureControlPlanePki({
    disk: context.machine.disk,
    clock: context.machine.clock,
    say,
    nodeName: run.nodeName,
    advertiseAddress: run.advertiseAddress,
    cluster: run.cluster,
  });
  await writeKubeconfigs(run, pki);
  await foundEtcd(run);
  startKubelet(run);
  say(
    `[wait-control-plane] Waiting for the kubelet to boot up the control plane as static Pods from directory "${paths.manifests}"`,
  );
  await context.kubelet.controlPlane.apiStarted;
  say('[apiclient] All control plane components are healthy');
  const client = must(context.kubelet.controlPlane.cluster, 'cluster').loopback;
  await ensureObjects(client, [adminBinding()], fieldManager);
  if (!isSkipped('upload-config')) await uploadConfig(run, client);
  if (!isSkipped('bootstrap-token')) await uploadBootstrap(run, pki, client);
  if (!isSkipped('addon/coredns')) {
    await ensureObjects(client, coreDns(run.cluster, run.version), fieldManager);
    say('[addons] Applied essential addon: CoreDNS');
  }
  if (!isSkipped('addon/kube-proxy')) {
    await ensureObjects(client, kubeProxy(run.cluster, run.version, run.endpoint, documents.kubeProxy), fieldManager);
    say('[addons] Applied essential addon: kube-proxy');
  }
  if (!isSkipped('mark-control-plane')) {
    await markControlPlane(run, client);
  }
  say('\nYour Kubernetes control-plane has initialized successfully!\n');
}

function prepare(context: KubeadmContext, documents: Documents): InitRun {
  const { machine, flags } = context;
  if (documents.join) {
    throw new KubeadmFailure(undefined, 'no InitConfiguration or ClusterConfiguration kind was found in the YAML file');
  }
  const settings = readInit(documents.init);
  const cluster = readCluster(documents.cluster);
  const installed = installedVersion(machine);
  const desired = cluster.kubernetesVersion ?? flags.get('kubernetes-version');
  const version = desired === undefined ? installed : parseVersion(desired);
  if (!version) {
    throw new KubeadmFailure(
      undefined,
      desired === undefined
        ? 'could not fetch a Kubernetes version from the internet: unable to get URL "https://dl.k8s.io/release/stable-1.txt"'
        : `version "${desired}" doesn't match patterns for neither semantic version nor labels (stable, latest, ...)`,
    );
  }
  const skew = installed && skewProblem(installed, version);
  if (skew !== undefined) throw new KubeadmFailure(undefined, skew);
  const advertiseAddress = settings.localEndpoint.advertiseAddress ?? machine.addresses[0];
  if (advertiseAddress === undefined) {
    throw new KubeadmFailure(undefined, 'unable to select an IP from default routes.');
  }
  return {
    context,
    settings,
    cluster,
    documents,
    version,
    nodeName: nodeNameOf(context, settings.nodeRegistration),
    advertiseAddress,
    endpoint: endpointOf(cluster, advertiseAddress, settings.localEndpoint.bindPort),
  };
}

/** Returns the API endpoint for other machines: the cluster's endpoint, else this machine. */
export function endpointOf(cluster: ClusterConfiguration, advertiseAddress: string, bindPort: number): string {
  const { controlPlaneEndpoint } = cluster;
  const bracketed = advertiseAddress.includes(':') ? `[${advertiseAddress}]` : advertiseAddress;
  if (controlPlaneEndpoint === undefined) return `https://${bracketed}:${bindPort}`;
  return `https://${/:\d+$/.test(controlPlaneEndpoint) ? controlPlaneEndpoint : `${controlPlaneEndpoint}:${bindPort}`}`;
}

function checks({ context, version }: InitRun): PreflightCheck[] {
  const installed = installedVersion(context.machine);
  const tooNew =
    installed !== undefined &&
    (installed.minor > version.minor || (installed.minor === version.minor && installed.patch > version.patch));
  return [
    ...controlPlaneChecks(context),
    ...fileChecks(context, controlPlaneComponents.map(manifestPath)),
    [
      'KubeletVersion',
      tooNew && installed.minor > version.minor
        ? `the kubelet version is higher than the control plane version. This is not a supported version skew and may lead to a malfunctional cluster. Kubelet version: "${installed.text.slice(1)}" Control plane version: "${version.text.slice(1)}"`
        : undefined,
    ],
    [
      'DirAvailable--var-lib-etcd',
      context.machine.disk.read(paths.etcdData) === undefined ? undefined : '/var/lib/etcd is not empty',
    ],
  ];
}

export function ignoredIn(document: JsonObject | undefined): string[] {
  const registration = document?.['nodeRegistration'] as { ignorePreflightErrors?: string[] } | undefined;
  return registration?.ignorePreflightErrors ?? [];
}

async function writeKubeconfigs(run: InitRun, pki: ControlPlanePki): Promise<void> {
  const { context, cluster, nodeName, endpoint } = run;
  const { machine, say } = context;
  say('[kubeconfig] Using kubeconfig folder "/etc/kubernetes"');
  const issue = (commonName: string, organization: string): Promise<{ certificate: string; privateKey: string }> =>
    issueCertificate({
      authority: pki.authority,
      commonName,
      organizations: [organization],
      usages: ['client'],
      clock: machine.clock,
    });
  const [admin, kubelet] = await Promise.all([
    issue('kubernetes-admin', 'kubeadm:cluster-admins'),
    issue(`system:node:${nodeName}`, 'system:nodes'),
  ]);
  const certificateAuthority = pki.authority.certificate;
  const adminFacts = {
    server: endpoint,
    certificateAuthority,
    user: 'kubernetes-admin',
    clientCertificate: { certificate: admin.certificate, key: admin.privateKey },
  };
  say('[kubeconfig] Writing "admin.conf" kubeconfig file');
  machine.disk.write(paths.adminKubeconfig, renderKubeconfig(adminFacts, cluster.clusterName), 0o600);
  say('[kubeconfig] Writing "kubelet.conf" kubeconfig file');
  machine.disk.write(paths.kubeletCertificate, `${kubelet.certificate}${kubelet.privateKey}`, 0o600);
  const kubeletFacts = { server: kubeletServer(run), certificateAuthority, user: `system:node:${nodeName}` };
  machine.disk.write(
    paths.kubeletKubeconfig,
    renderKubeconfig(kubeletFacts, cluster.clusterName, paths.kubeletCertificate),
    0o600,
  );
}

function kubeletServer(run: InitRun): string {
  const { cluster, version, advertiseAddress, settings } = run;
  return usesLocalApi(cluster, version)
    ? endpointOf({ ...cluster, controlPlaneEndpoint: undefined }, advertiseAddress, settings.localEndpoint.bindPort)
    : run.endpoint;
}

/** In newer kubeadm the kubelet of a control plane uses the API server on its own machine. */
export function usesLocalApi(cluster: ClusterConfiguration, version: KubernetesVersion): boolean {
  const gates = cluster.document['featureGates'] as Record<string, unknown> | undefined;
  const gate = gates?.['ControlPlaneKubeletLocalMode'];
  return typeof gate === 'boolean' ? gate : version.minor >= 33;
}

/** Creates an etcd cluster with its first member on this machine. */
async function foundEtcd({ context, cluster: configuration, nodeName, advertiseAddress }: InitRun): Promise<void> {
  const { machine, registry, say } = context;
  const cluster = registry.keyspace(registry.createEtcd().id);
  registry.claim(cluster.id, machine.server.id);
  if (configuration.isExternalEtcd) {
    const member = cluster.etcd.found({ name: 'external', peerUrls: [], clientUrls: [] });
    cluster.etcd.start(member.id, { name: 'external', clientUrls: [] });
    writeEtcdData(machine, { clusterId: cluster.id });
    return;
  }
  say(`[etcd] Creating static Pod manifest for local etcd in "${paths.manifests}"`);
  const member = cluster.etcd.found({
    name: nodeName,
    peerUrls: [`https://${advertiseAddress}:2380`],
    clientUrls: [`https://${advertiseAddress}:2379`],
  });
  writeEtcdData(machine, { clusterId: cluster.id, memberId: member.id });
}

function startKubelet(run: InitRun): void {
  const { context, settings, cluster, documents, version, nodeName, advertiseAddress } = run;
  const { machine, kubelet, say } = context;
  const components = writeManifests(machine.disk, {
    nodeName,
    advertiseAddress,
    bindPort: settings.localEndpoint.bindPort,
    cluster,
    version,
  });
  for (const component of components) {
    if (component !== 'etcd') say(`[control-plane] Creating static Pod manifest for "${component}"`);
  }
  writeKubeletFiles(context, {
    nodeName,
    registration: settings.nodeRegistration,
    isControlPlane: true,
    configuration: kubeletConfiguration(cluster, documents.kubelet),
    // The kubelet has the installed version, even if the control plane has another one.
    version: installedVersion(context.machine) ?? version,
    imageRepository: cluster.imageRepository,
  });
  say('[kubelet-start] Starting the kubelet');
  kubelet.startControlPlane();
  kubelet.start();
}

async function uploadConfig({ context, cluster, version, documents }: InitRun, client: Client): Promise<void> {
  context.say(
    '[upload-config] Storing the configuration used in ConfigMap "kubeadm-config" in the "kube-system" Namespace',
  );
  const kubelet = kubeletConfiguration(cluster, documents.kubelet);
  await ensureObjects(
    client,
    [...uploadedClusterConfiguration(cluster, version), ...uploadedKubeletConfiguration(kubelet)],
    fieldManager,
  );
}

async function uploadBootstrap(run: InitRun, pki: ControlPlanePki, client: Client): Promise<void> {
  const { context, settings, endpoint } = run;
  const { machine, say } = context;
  const tokens = settings.bootstrapTokens ?? [newToken(context)];
  for (const token of tokens) say(`[bootstrap-token] Using token: ${token.token}`);
  say('[bootstrap-token] Configuring bootstrap tokens, cluster-info ConfigMap, RBAC Roles');
  await ensureObjects(
    client,
    [
      ...tokens.map((token) => tokenSecret(token, machine.clock.now())),
      ...bootstrapRules(),
      ...clusterInfo(endpoint, pki.authority.certificate),
    ],
    fieldManager,
  );
}

function newToken({ machine }: KubeadmContext): BootstrapToken {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return {
    token: `${machine.random.text(6, alphabet)}.${machine.random.text(16, alphabet)}`,
    ttlMs: 24 * 3_600_000,
    usages: ['signing', 'authentication'],
    groups: [bootstrapTokenGroup],
    description: "The default bootstrap token generated by 'kubeadm init'.",
  };
}

type MarkedRun = Pick<InitRun, 'context' | 'nodeName' | 'version'> & {
  readonly settings: { readonly nodeRegistration: NodeRegistration };
};

/** Labels and taints the Node as control plane once its kubelet has registered it. */
export async function markControlPlane(
  { context: { machine, say }, nodeName, settings, version }: MarkedRun,
  client: Client,
): Promise<void> {
  const { labels } = controlPlaneMarks(version);
  const taints = registrationTaints(settings.nodeRegistration, { isControlPlane: true, version });
  say(`[mark-control-plane] Marking the node ${nodeName} as control-plane by adding the labels: [${labels.join(' ')}]`);
  const deadline = machine.clock.now() + nodePatienceMs;
  for (;;) {
    const node: Node | undefined = await client.get(Nodes, { name: nodeName }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (node) {
      const present = node.spec?.taints ?? [];
      const missing = taints.filter(
        ({ key, effect }) => !present.some((taint) => taint.key === key && taint.effect === effect),
      );
      await client.patch(
        Nodes,
        { name: nodeName },
        'strategic',
        {
          metadata: {
            labels: Object.fromEntries(labels.map((label) => [label, ''])),
            annotations: { 'node.alpha.kubernetes.io/ttl': '0' },
          },
          ...(missing.length > 0 && { spec: { taints: asJson([...present, ...missing]) } }),
        },
        { fieldManager },
      );
      return;
    }
    if (machine.clock.now() > deadline) {
      throw new KubeadmFailure(
        'mark-control-plane',
        'error applying control-plane label and taints: timed out waiting for the condition',
      );
    }
    await machine.pass(nodePollMs);
  }
}
