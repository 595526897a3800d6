import { errorMessage, must } from '../../../../machinery/index.ts';
import type { WorkloadCluster } from '../../../../simkube/index.ts';
import { ensureObjects } from '../kubeadm/ensure-object.ts';
import { readEtcdData, writeEtcdData } from '../kubelet/control-plane.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import { bringNetwork, isRegistered, reachSupervisor, startKubelet, writeKubeletCredentials } from './node.ts';
import { applyManifests, markServer, servingObjects } from './objects.ts';
import { ensureAuthorities, issueClient, issueServing, writeSharedFiles } from './pki.ts';
import { Rke2Refusal } from './refusal.ts';
import {
  apiPort,
  clientUrl,
  memberName,
  ownAddress,
  peerUrl,
  writeAdminKubeconfig,
  writePods,
} from './server-files.ts';
import type { ServerRun } from './server-run.ts';
import { keepSnapshots } from './snapshots.ts';
import { Supervisor, serveSupervisor } from './supervisor.ts';

const etcdRetryMs = 1_000;

/** Runs `rke2 server`, which creates a cluster or joins one. Resolves once the server is ready. */
export async function runServer(run: ServerRun): Promise<void> {
  const { machine, config, kubelet, say } = run;
  if (config.profile !== undefined) refuseUnprepared(run);
  if (readEtcdData(machine) === undefined) {
    if (config.server === undefined) await makeCluster(run);
    else await joinCluster(run, config.server);
  }
  const supervisor = new Supervisor({ machine, config, cluster: () => readyCluster(kubelet) });
  serveSupervisor(machine, supervisor);
  say('info', `Running kube-apiserver --advertise-port=${apiPort}`);
  kubelet.startControlPlane();
  await kubelet.controlPlane.etcdStarted;
  await promote(run);
  await kubelet.controlPlane.apiStarted;
  const cluster = must(kubelet.controlPlane.cluster, 'cluster');
  run.addresses.add(cluster.id, machine);
  await ensureObjects(cluster.loopback, servingObjects(supervisor.authorities()), 'rke2');
  await applyManifests(machine, config, cluster.loopback, say);
  await becomeNode(run, supervisor, cluster);
  keepSnapshots(run, cluster);
  say('info', `Cluster-Http-Server ${machine.hostname} is ready`);
}

const readyCluster = ({ controlPlane }: Kubelet): WorkloadCluster | undefined =>
  controlPlane.isReady('kube-apiserver') ? controlPlane.cluster : undefined;

/** A CIS profile requires rke2's sysctl settings and an etcd user. */
function refuseUnprepared({ machine, config }: ServerRun): void {
  if (machine.disk.read('/etc/sysctl.d/90-rke2-cis.conf') !== undefined) return;
  throw new Rke2Refusal(
    `missing required: user: unknown user etcd; invalid kernel parameter value vm.overcommit_memory=0 - expected 1: the machine does not meet the profile ${config.profile}`,
  );
}

/** Sets up the first server: its authorities are given or created, and etcd has one member. */
async function makeCluster(run: ServerRun): Promise<void> {
  const { machine, config, registry, say } = run;
  if (config.token === undefined) say('info', 'no token was given: one is generated');
  await ensureAuthorities(machine, config);
  await issueServing(machine, config);
  await writeAdminKubeconfig(run);
  const cluster = registry.keyspace(registry.createEtcd().id);
  registry.claim(cluster.id, machine.server.id);
  if (config.datastore !== undefined) {
    const member = cluster.etcd.found({ name: 'external', peerUrls: [], clientUrls: [] });
    cluster.etcd.start(member.id, { name: 'external', clientUrls: [] });
    writeEtcdData(machine, { clusterId: cluster.id });
    writePods(run, '');
    return;
  }
  const name = memberName(run);
  const member = cluster.etcd.found({ name, peerUrls: [peerUrl(machine)], clientUrls: [clientUrl(machine)] });
  writeEtcdData(machine, { clusterId: cluster.id, memberId: member.id });
  writePods(run, name);
}

/** Adds a server: it copies the authorities from an existing one and joins its etcd. */
async function joinCluster(run: ServerRun, url: string): Promise<void> {
  const { machine, config, registry, say } = run;
  if (config.token === undefined) throw new Rke2Refusal('token is required to join a cluster');
  const { files, cluster } = await reachSupervisor(machine, url, say, (supervisor) =>
    supervisor.bootstrap(config.token),
  );
  writeSharedFiles(machine.disk, config, files);
  await issueServing(machine, config);
  await writeAdminKubeconfig(run);
  registry.claim(cluster.id, machine.server.id);
  if (config.datastore !== undefined) {
    writeEtcdData(machine, { clusterId: cluster.id });
    writePods(run, '');
    return;
  }
  say('info', `Adding member ${config.nodeName} to etcd cluster`);
  const memberId = await retried(run, () => {
    const known = cluster.etcd.members.find(({ peerUrls }) => peerUrls.includes(peerUrl(machine)));
    return (known ?? cluster.etcd.add([peerUrl(machine)], { isLearner: true })).id;
  });
  writeEtcdData(machine, { clusterId: cluster.id, memberId });
  writePods(run, memberName(run));
}

/** Promotes the etcd learner once it has caught up. */
async function promote(run: ServerRun): Promise<void> {
  const { machine, kubelet, say } = run;
  const memberId = readEtcdData(machine)?.memberId;
  const cluster = kubelet.controlPlane.cluster;
  if (memberId === undefined || !cluster?.etcd.member(memberId)?.isLearner) return;
  await retried(run, () => cluster.etcd.promote(memberId));
  say('info', 'Learner has been promoted to voting member');
}

/** Retries, because other members may be joining, or etcd may temporarily have no leader. */
async function retried<T>({ machine, say }: ServerRun, work: () => T): Promise<T> {
  let said = '';
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (said !== errorMessage(error)) say('warning', `etcd: ${errorMessage(error)}`);
      said = errorMessage(error);
    }
    await machine.pass(etcdRetryMs);
  }
}

async function becomeNode(run: ServerRun, supervisor: Supervisor, cluster: WorkloadCluster): Promise<void> {
  const { machine, config, kubelet, version, addresses } = run;
  if (!isRegistered(machine, config)) {
    const kubeletPair = await issueClient(machine, config, {
      commonName: `system:node:${config.nodeName}`,
      organization: 'system:nodes',
    });
    const registration = { serverAuthority: supervisor.authorities(), kubelet: kubeletPair };
    writeKubeletCredentials(machine, config, registration, ownAddress(machine));
  }
  bringNetwork(machine, config.networkPlugins);
  startKubelet(kubelet, config, version, {
    hasCloudController: config.hasCloudController,
    otherServers: () => addresses.of(cluster.id),
  });
  await markServer(machine, config, cluster.loopback);
}
