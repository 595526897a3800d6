import { parse } from 'yaml';
import { ConfigMaps, Nodes } from '../../../../api/index.ts';
import {
  errorMessage,
  isForbidden,
  isJsonObject,
  isNotFound,
  type JsonObject,
  type JsonValue,
} from '../../../../machinery/index.ts';
import { issueCertificate } from '../../../../pki/index.ts';
import type { WorkloadCluster } from '../../../../simkube/index.ts';
import { renderKubeconfig } from '../../../../simkube/index.ts';
import { connectWith } from '../connect.ts';
import { installedVersion } from '../installed.ts';
import { writeEtcdData } from '../kubelet/control-plane.ts';
import { ensureControlPlanePki, missingSharedCertificates } from './certificates.ts';
import { controlPlaneChecks, fileChecks, type KubeadmContext, runPreflight, skippedPhases } from './context.ts';
import { type DiscoveredCluster, discover } from './discovery.ts';
import {
  type ApiEndpoint,
  type ClusterConfiguration,
  type Documents,
  type JoinSettings,
  readCluster,
  readJoin,
} from './documents.ts';
import { KubeadmFailure } from './failure.ts';
import { endpointOf, ignoredIn, markControlPlane, usesLocalApi } from './init.ts';
import { nodeNameOf, writeKubeletFiles } from './kubelet-start.ts';
import { writeManifests } from './manifests.ts';
import { paths } from './names.ts';
import { bootstrapKubeletCertificate } from './tls-bootstrap.ts';
import { type KubernetesVersion, parseVersion, skewProblem } from './version.ts';

const etcdRetryMs = 1_000;
const etcdPatienceMs = 2 * 60_000;

/** State shared by the phases of one join. */
interface JoinRun {
  readonly context: KubeadmContext;
  readonly settings: JoinSettings;
  readonly nodeName: string;
  readonly discovered: DiscoveredCluster;
  readonly cluster: ClusterConfiguration;
  /** installed version of this machine */
  readonly version: KubernetesVersion;
  readonly kubeletConfiguration: string;
}

/** Runs `kubeadm join`, which adds a machine to an existing cluster. */
export async function kubeadmJoin(context: KubeadmContext, documents: Documents): Promise<void> {
  const { say, machine } = context;
  if (!documents.join) {
    throw new KubeadmFailure(undefined, 'no JoinConfiguration kind was found in the YAML file');
  }
  const settings = readJoin(documents.join);
  const isSkipped = skippedPhases(context, settings.skipPhases);
  if (!isSkipped('preflight')) {
    const leftovers = fileChecks(context, [paths.kubeletKubeconfig, paths.bootstrapKubeconfig]);
    const checks = settings.controlPlane ? [...controlPlaneChecks(context), ...leftovers] : leftovers;
    runPreflight(context, checks, ignoredIn(documents.join));
  }
  const discovered = await discover(machine, settings);
  const run = await readClusterSettings(context, settings, discovered);
  if (settings.controlPlane) await prepareControlPlane(run, settings.controlPlane);
  await startKubelet(run);
  if (!settings.controlPlane) await bootstrapKubelet(run, discovered.server);
  else if (usesLocalApi(run.cluster, run.version)) await joinByLocalApi(run, settings.controlPlane);
  else await joinByEndpoint(run, settings.controlPlane);
  say('');
  say(
    settings.controlPlane
      ? 'This node has joined the cluster and a new control plane instance was created:'
      : 'This node has joined the cluster:',
  );
  say('* Certificate signing request was sent to apiserver and approval was received.');
  say('* The Kubelet was informed of the new secure connection details.\n');
}

/** Reads the configuration that `kubeadm init` uploaded, with the bootstrap token. */
async function readClusterSettings(
  context: KubeadmContext,
  settings: JoinSettings,
  discovered: DiscoveredCluster,
): Promise<JoinRun> {
  const { machine, say } = context;
  say('[preflight] Reading configuration from the "kubeadm-config" ConfigMap in namespace "kube-system"...');
  const read = async (name: string, field: string): Promise<string> => {
    try {
      const { client } = connectWith(machine, discovered.bootstrap);
      const map = await client.get(ConfigMaps, { namespace: 'kube-system', name });
      return map.data?.[field] ?? '';
    } catch (error) {
      throw new KubeadmFailure(
        'preflight',
        `unable to fetch the kubeadm-config ConfigMap: failed to get config map: ${errorMessage(error)}`,
      );
    }
  };
  const document = parse(await read('kubeadm-config', 'ClusterConfiguration')) as JsonValue;
  const cluster = readCluster(isJsonObject(document) ? (document as JsonObject) : undefined);
  const controlPlaneVersion = parseVersion(cluster.kubernetesVersion ?? '');
  const installed = installedVersion(machine);
  const problem = installed && controlPlaneVersion && skewProblem(installed, controlPlaneVersion);
  if (problem !== undefined) {
    throw new KubeadmFailure('preflight', `unable to fetch the kubeadm-config ConfigMap: ${problem}`);
  }
  const version = installed ?? controlPlaneVersion;
  if (!version) {
    throw new KubeadmFailure(
      'preflight',
      'unable to fetch the kubeadm-config ConfigMap: it names no Kubernetes version',
    );
  }
  return {
    context,
    settings,
    discovered,
    cluster,
    version,
    nodeName: nodeNameOf(context, settings.nodeRegistration),
    kubeletConfiguration: await read('kubelet-config', 'kubelet'),
  };
}

function advertiseAddressOf({ machine }: KubeadmContext, endpoint: ApiEndpoint): string {
  const address = endpoint.advertiseAddress ?? machine.addresses[0];
  if (address === undefined) throw new KubeadmFailure(undefined, 'unable to select an IP from default routes.');
  return address;
}

/** Creates the certificates and kubeconfigs of another control plane from the shared authorities. */
async function prepareControlPlane(run: JoinRun, endpoint: ApiEndpoint): Promise<void> {
  const { context, cluster, discovered, nodeName } = run;
  const { machine, say } = context;
  const missing = missingSharedCertificates(machine.disk, cluster);
  if (missing.length > 0) {
    throw new KubeadmFailure(
      'preflight',
      `\nOne or more conditions for hosting a new control plane instance is not satisfied.\n\n[${missing.join(', ')}]\n\nPlease ensure that:\n* The cluster has a stable controlPlaneEndpoint address.\n* The certificates that must be shared among control plane instances are provided.\n`,
    );
  }
  if (cluster.controlPlaneEndpoint === undefined) {
    throw new KubeadmFailure(
      'preflight',
      "\nOne or more conditions for hosting a new control plane instance is not satisfied.\n\nunable to add a new control plane instance to a cluster that doesn't have a stable controlPlaneEndpoint address\n",
    );
  }
  const pki = await ensureControlPlanePki({
    disk: machine.disk,
    clock: machine.clock,
    say,
    nodeName,
    advertiseAddress: advertiseAddressOf(context, endpoint),
    cluster,
  });
  const admin = await issueCertificate({
    authority: pki.authority,
    commonName: 'kubernetes-admin',
    organizations: ['kubeadm:cluster-admins'],
    usages: ['client'],
    clock: machine.clock,
  });
  say('[kubeconfig] Generating kubeconfig files');
  const facts = {
    server: discovered.server,
    certificateAuthority: pki.authority.certificate,
    user: 'kubernetes-admin',
    clientCertificate: { certificate: admin.certificate, key: admin.privateKey },
  };
  machine.disk.write(paths.adminKubeconfig, renderKubeconfig(facts, cluster.clusterName), 0o600);
}

/** Writes the kubelet's files and starts it. It waits for credentials. */
async function startKubelet(run: JoinRun): Promise<void> {
  const { context, settings, discovered, cluster, version, nodeName } = run;
  const { machine, say } = context;
  await refuseTakenName(run);
  writeKubeletFiles(context, {
    nodeName,
    registration: settings.nodeRegistration,
    isControlPlane: settings.controlPlane !== undefined,
    configuration: run.kubeletConfiguration,
    version,
    imageRepository: cluster.imageRepository,
  });
  machine.disk.write(paths.bootstrapKubeconfig, renderKubeconfig(discovered.bootstrap, cluster.clusterName), 0o600);
  if (machine.disk.read(`${cluster.certificatesDir}/ca.crt`) === undefined) {
    machine.disk.write(`${cluster.certificatesDir}/ca.crt`, discovered.certificateAuthority, 0o644);
  }
  say('[kubelet-start] Starting the kubelet');
}

/** Runs TLS bootstrap against an API server, which the kubelet then keeps using. */
async function bootstrapKubelet(run: JoinRun, server: string): Promise<void> {
  const { context, settings, discovered, cluster, nodeName } = run;
  const { machine, kubelet, say } = context;
  say('[kubelet-start] Waiting for the kubelet to perform the TLS Bootstrap');
  const pair = await bootstrapKubeletCertificate(
    machine,
    () => connectWith(machine, { ...discovered.bootstrap, server }).client,
    nodeName,
    settings.tlsBootstrapTimeoutMs,
  );
  machine.disk.write(paths.kubeletCertificate, `${pair.certificate}${pair.key}`, 0o600);
  const facts = {
    server,
    certificateAuthority: discovered.certificateAuthority,
    user: `system:node:${nodeName}`,
  };
  machine.disk.write(
    paths.kubeletKubeconfig,
    renderKubeconfig(facts, cluster.clusterName, paths.kubeletCertificate),
    0o600,
  );
  machine.disk.remove(paths.bootstrapKubeconfig);
  kubelet.start();
}

/** Two machines with the same name would overwrite each other's Node. */
async function refuseTakenName({ context, discovered, nodeName }: JoinRun): Promise<void> {
  const { client } = connectWith(context.machine, discovered.bootstrap);
  const node = await client.get(Nodes, { name: nodeName }).catch((error: unknown) => {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw new KubeadmFailure('kubelet-start', `cannot get Node "${nodeName}": ${errorMessage(error)}`);
  });
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return;
  throw new KubeadmFailure(
    'kubelet-start',
    `a Node with name "${nodeName}" and status "Ready" already exists in the cluster. You must delete the existing Node or change the name of this new joining Node`,
  );
}

/** Older versions: the Node registers before its machine is an etcd member. */
async function joinByEndpoint(run: JoinRun, endpoint: ApiEndpoint): Promise<void> {
  await bootstrapKubelet(run, run.discovered.server);
  const workload = await startControlPlane(run, endpoint);
  await markControlPlane(run, workload.loopback);
}

/** The kubelet registers through the local API server, so its Node appears only once the machine is an etcd member. */
async function joinByLocalApi(run: JoinRun, endpoint: ApiEndpoint): Promise<void> {
  const workload = await startControlPlane(run, endpoint);
  const address = advertiseAddressOf(run.context, endpoint);
  await bootstrapKubelet(
    run,
    endpointOf({ ...run.cluster, controlPlaneEndpoint: undefined }, address, endpoint.bindPort),
  );
  await markControlPlane(run, workload.loopback);
}

/** Starts the static Pods and joins etcd: first as a learner, then as a voting member. */
async function startControlPlane(run: JoinRun, endpoint: ApiEndpoint): Promise<WorkloadCluster> {
  const { context, cluster, discovered, version, nodeName } = run;
  const { machine, kubelet, registry, say } = context;
  const workload = connectWith(machine, { ...discovered.bootstrap }).reached.cluster;
  if (!workload) {
    throw new KubeadmFailure(
      'control-plane-join',
      `the etcd of ${discovered.server} is not on machines of this cloud: only workers can join it`,
    );
  }
  const advertiseAddress = advertiseAddressOf(context, endpoint);
  registry.claim(workload.id, machine.server.id);
  const memberId = cluster.isExternalEtcd ? undefined : await addMember(run, workload, advertiseAddress);
  writeEtcdData(machine, { clusterId: workload.id, ...(memberId !== undefined && { memberId }) });
  writeManifests(machine.disk, { nodeName, advertiseAddress, bindPort: endpoint.bindPort, cluster, version });
  say('[control-plane] Creating static Pod manifests');
  kubelet.startControlPlane();
  await started('etcd', kubelet.controlPlane.etcdStarted);
  if (memberId !== undefined) await promote(run, workload, memberId);
  await started('kube-apiserver', kubelet.controlPlane.apiStarted);
  return workload;
}

async function started(what: string, waiting: Promise<void>): Promise<void> {
  try {
    await waiting;
  } catch (error) {
    throw new KubeadmFailure('control-plane-join', `error creating static Pod ${what}: ${errorMessage(error)}`);
  }
}

async function addMember(run: JoinRun, workload: WorkloadCluster, address: string): Promise<string> {
  const { machine, say } = run.context;
  const peerUrl = `https://${address}:2380`;
  say(`[etcd] Adding etcd member: ${peerUrl} as a learner`);
  const existing = workload.etcd.members.find(({ peerUrls }) => peerUrls.includes(peerUrl));
  if (existing) return existing.id;
  return await retried(
    run,
    () => workload.etcd.add([peerUrl], { isLearner: true }).id,
    machine.clock.now() + etcdPatienceMs,
  );
}

async function promote(run: JoinRun, workload: WorkloadCluster, memberId: string): Promise<void> {
  if (!workload.etcd.member(memberId)?.isLearner) return;
  const { machine, say } = run.context;
  await retried(run, () => workload.etcd.promote(memberId), machine.clock.now() + etcdPatienceMs);
  say(`[etcd] The new etcd member has been promoted: ${memberId}`);
}

/** Retries, because other members may be joining, or etcd may temporarily have no leader. */
async function retried<T>({ context: { machine } }: JoinRun, work: () => T, deadline: number): Promise<T> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (machine.clock.now() + etcdRetryMs > deadline) {
        throw new KubeadmFailure(
          'control-plane-join/etcd',
          `error creating local etcd static pod manifest file: ${errorMessage(error)}`,
        );
      }
    }
    await machine.pass(etcdRetryMs);
  }
}
