import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  ConfigMaps,
  KubeadmConfigs,
  KubeadmControlPlanes,
  type Machine,
  Machines,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import { asJson, type JsonObject, type Resource, type UnstructuredObject } from '../../../machinery/index.ts';
import {
  certificateFiles,
  conditionOf,
  controllerOf,
  controlPlaneCertificatePlans,
  findClusterCertificates,
  isTrue,
} from '../../shared/index.ts';
import { FakeMachines, FakeMachineTemplates, infrastructureGroup } from '../../testing/provider-kinds.ts';
import { by, type WorldOptions } from '../../testing/world.ts';
import {
  createKubeadmCluster,
  createKubeadmWorld,
  createTemplate,
  type KubeadmWorld,
} from './testing/kubeadm-world.ts';

let world: KubeadmWorld | undefined;
afterEach(async () => {
  const ended = world;
  world = undefined;
  await ended?.stop();
  // no change may ever lose quorum
  expect(ended?.etcd.violations ?? []).toEqual([]);
});

type Options = NonNullable<Parameters<typeof createKubeadmWorld>[0]> &
  NonNullable<Parameters<typeof createKubeadmCluster>[2]>;

async function begin(
  spec: Parameters<typeof createKubeadmCluster>[1] = {},
  options: Options = {},
): Promise<KubeadmWorld> {
  world = await createKubeadmWorld(options);
  await createKubeadmCluster(world, spec, options);
  return world;
}

const names = (list: readonly Machine[]): string[] => list.map(({ metadata }) => metadata.name ?? '').sort();
const messageOf = async (w: KubeadmWorld, type: string): Promise<string> =>
  conditionOf(await w.controlPlane(), type)?.message ?? '';

describe('a kubeadm control plane', () => {
  it('creates its first machine with an init configuration, and reports it in its status', async () => {
    const w = await begin({
      kubeadmConfigSpec: {
        initConfiguration: { nodeRegistration: { name: 'x' } },
        joinConfiguration: { nodeRegistration: { name: 'y' } },
      },
    });
    await w.until(w.settled(1));
    const controlPlane = await w.controlPlane();
    expect(controlPlane.status).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      selector: 'cluster.x-k8s.io/cluster-name=c1,cluster.x-k8s.io/control-plane',
      availableReplicas: 1,
      version: 'v1.33.0',
      versions: [{ version: 'v1.33.0', replicas: 1 }],
      deprecated: { v1beta1: { readyReplicas: 1, updatedReplicas: 1, unavailableReplicas: 0 } },
    });
    expect(controlPlane.status?.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'Available True',
      'CertificatesAvailable True',
      'Initialized True',
      'EtcdClusterHealthy True',
      'ControlPlaneComponentsHealthy True',
      'RollingOut False',
      'Remediating False',
      'ScalingDown False',
      'ScalingUp False',
      'MachinesReady True',
      'MachinesUpToDate True',
      'Paused False',
      'Deleting False',
    ]);
    const legacy = controlPlane.status?.deprecated?.v1beta1?.conditions?.filter(({ status }) => status !== 'True');
    expect(legacy).toEqual([]);
    const [machine] = await w.list(Machines);
    const name = machine?.metadata.name ?? '';
    expect(name).toMatch(/^cp-[a-z0-9]{5}$/);
    expect(machine?.metadata.labels).toEqual({
      'cluster.x-k8s.io/cluster-name': 'c1',
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': 'cp',
    });
    expect(machine?.metadata.annotations).toEqual({
      'pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup': '',
    });
    expect(machine?.spec.readinessGates?.map(({ conditionType }) => conditionType)).toEqual([
      'NodeKubeadmLabelsAndTaintsSet',
      'APIServerPodHealthy',
      'ControllerManagerPodHealthy',
      'SchedulerPodHealthy',
      'EtcdPodHealthy',
      'EtcdMemberHealthy',
    ]);
    const config = await w.find(KubeadmConfigs, name);
    expect(config?.spec).toEqual({
      clusterConfiguration: { featureGates: { ControlPlaneKubeletLocalMode: true } },
      initConfiguration: { nodeRegistration: { name: 'x' } },
    });
    expect(config?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['Machine']);
    const infrastructure = await w.find(FakeMachines, name);
    expect(infrastructure?.metadata.annotations).toMatchObject({ 'cluster.x-k8s.io/cloned-from-name': 'cp' });
    const template = await w.find(FakeMachineTemplates, 'cp');
    expect(template?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', name: 'c1' });
  });

  it('writes nothing once nothing changes', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    await w.pass(400_000);
    const before = w.writes();
    await w.pass(1_200_000);
    expect(w.writes()).toBe(before);
  });

  it('scales up and down one machine at a time', async () => {
    const w = await begin();
    for (const replicas of [1, 3, 1, 3]) {
      await w.patchControlPlane({ spec: { replicas } });
      let most = 0;
      await w.until(async () => {
        const all = await w.machines();
        most = Math.max(most, all.filter(({ status }) => !status?.nodeRef).length);
        return await w.settled(replicas)();
      });
      expect(most).toBeLessThanOrEqual(1);
      expect(w.etcd.names()).toEqual(names(await w.machines()));
    }
  });

  it('updates labels, annotations and timeouts of machines without replacing them', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    const [before] = await w.machines();
    const name = before?.metadata.name ?? '';
    await w.patchControlPlane({
      spec: {
        machineTemplate: {
          metadata: { labels: { tier: 'gold' }, annotations: { note: 'x' } },
          spec: { deletion: { nodeDrainTimeoutSeconds: 60 } },
        },
      },
    });
    await w.until(async () => (await w.find(FakeMachines, name))?.metadata.labels?.['tier'] === 'gold');
    const machine = await w.find(Machines, name);
    expect(machine?.metadata.uid).toBe(before?.metadata.uid);
    expect(machine?.metadata).toMatchObject({ labels: { tier: 'gold' }, annotations: { note: 'x' } });
    expect(machine?.spec.deletion?.nodeDrainTimeoutSeconds).toBe(60);
    expect((await w.find(KubeadmConfigs, name))?.metadata.labels?.['tier']).toBe('gold');
    await w.patchControlPlane({ spec: { machineTemplate: { metadata: null } } });
    await w.until(async () => (await w.find(Machines, name))?.metadata.labels?.['tier'] === undefined);
    expect((await w.find(Machines, name))?.metadata.annotations?.['note']).toBeUndefined();
    expect(names(await w.machines())).toEqual([name]);
  });

  it('spreads its machines over failure domains', async () => {
    const w = await begin({ replicas: 3 }, { failureDomains: ['az1', 'az2', 'az3'] });
    await w.until(w.settled(3));
    expect((await w.machines()).map(({ spec }) => spec.failureDomain).sort()).toEqual(['az1', 'az2', 'az3']);
  });

  it('names its machines by the naming template', async () => {
    const w = await begin({ machineNaming: { template: '{{ .cluster.name }}-master-{{ .random }}' } });
    await w.until(w.settled(1));
    expect(names(await w.machines())[0]).toMatch(/^c1-master-[a-z0-9]{5}$/);
  });

  it('records the certificate expiry of a machine once', async () => {
    const w = await begin();
    await w.until(async () => (await w.list(Machines))[0]?.status?.certificatesExpiryDate !== undefined);
    await w.pass(300_000);
    expect(w.certificatesAskedFor).toEqual(names(await w.machines()));
  });

  it('completes a machine whose creation was interrupted under the same name', async () => {
    const faults: NonNullable<WorldOptions['faults']> = [
      { verb: 'create', resource: 'FakeMachine', error: () => new Error('cut') },
    ];
    const w = await begin({}, { faults });
    await w.until(async () => (await w.list(KubeadmConfigs)).length === 1);
    const begun = names(await w.machines());
    expect(begun).toHaveLength(1);
    await w.restart();
    faults.length = 0;
    await w.until(w.settled(1));
    expect(names(await w.machines())).toEqual(begun);
    expect((await w.list(FakeMachines)).map(({ metadata }) => metadata.name)).toEqual(begun);
    expect(await w.list(KubeadmConfigs)).toHaveLength(1);
  });
});

describe('the Secrets of a kubeadm control plane', () => {
  it('are created once with an owner, and a missing one is reported instead of created again', async () => {
    const w = await begin({}, { secrets: [] });
    await w.until(w.settled(1), 20_000_000);
    for (const purpose of ['ca', 'etcd', 'proxy', 'sa', 'kubeconfig']) {
      const secret = await w.find(Secrets, `c1-${purpose}`);
      expect(secret && controllerOf(secret)).toMatchObject({ kind: 'KubeadmControlPlane', name: 'cp' });
    }
    await w.client.delete(Secrets, { namespace: w.namespace, name: 'c1-proxy' });
    await w.pass(1_200_000);
    const condition = conditionOf(await w.controlPlane(), 'CertificatesAvailable');
    expect(condition).toMatchObject({
      status: 'False',
      message: expect.stringMatching(
        /^Cluster certificate for proxy is not available, please check cluster certificate secrets; .* from a backup$/,
      ),
    });
    expect(conditionOf(await w.controlPlane(), 'Available')?.message).toContain('certificates are not available');
  });

  it('are restored from the data of a machine when they are deleted', async () => {
    const w = await begin({}, { secrets: [] });
    await w.until(w.settled(1), 20_000_000);
    const purposes = ['ca', 'etcd', 'proxy', 'sa'];
    const contents = (): Promise<(Secret['data'] | undefined)[]> =>
      Promise.all(purposes.map(async (purpose) => (await w.find(Secrets, `c1-${purpose}`))?.data));
    const before = await contents();
    const plans = controlPlaneCertificatePlans(undefined);
    const cluster = { namespace: w.namespace, name: 'c1' };
    const found = await findClusterCertificates({ client: w.client, cluster, plans });
    const [machine] = await w.machines();
    const name = machine?.spec.bootstrap.dataSecretName ?? '';
    const userData = `## template: jinja\n#cloud-config\n${stringify({ write_files: certificateFiles(found) })}`;
    await w.client.create(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: w.namespace, name },
        data: { value: Buffer.from(userData).toString('base64') },
      },
      by,
    );
    for (const purpose of [...purposes, 'kubeconfig']) {
      await w.client.delete(Secrets, { namespace: w.namespace, name: `c1-${purpose}` });
    }
    await w.until(async () => (await w.find(Secrets, 'c1-kubeconfig')) !== undefined);
    expect(await contents()).toEqual(before);
    await w.until(w.settled(1));
  });
});

describe('a rollout of a kubeadm control plane', () => {
  const upgrade = { spec: { version: 'v1.34.1' } };

  it('replaces all machines, creating one first, and updates the cluster configuration before', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const before = names(await w.machines());
    await w.patchControlPlane(upgrade);
    await w.until(async () => isTrue(await w.controlPlane(), 'RollingOut'));
    // once the first new machine is there, it also says what it waits for
    expect(await messageOf(w, 'RollingOut')).toMatch(
      /^Rolling out 3 not up-to-date replicas(?: is blocked because:\n[\s\S]+)?\n\* Version v1.33.0, v1.34.1 required$/,
    );
    let most = 0;
    let least = 9;
    await w.until(async () => {
      const all = await w.machines();
      most = Math.max(most, all.length);
      // addresses appear in the machine status with a delay
      least = Math.min(least, w.etcd.names().length, all.filter((machine) => machine.status?.nodeRef).length);
      return await w.settled(3)();
    });
    expect({ most, least }).toEqual({ most: 4, least: 3 });
    const after = await w.machines();
    expect(after.map(({ spec }) => spec.version)).toEqual(['v1.34.1', 'v1.34.1', 'v1.34.1']);
    expect(names(after).filter((name) => before.includes(name))).toEqual([]);
    expect(w.etcd.names()).toEqual(names(after));
    const config = await w.workload.get(ConfigMaps, { namespace: 'kube-system', name: 'kubeadm-config' });
    expect(config.data?.['ClusterConfiguration']).toContain('kubernetesVersion: v1.34.1');
    expect(config.data?.['ClusterConfiguration']).toContain('podSubnet: 10.244.0.0/16');
    expect((await w.controlPlane()).status?.versions).toEqual([{ version: 'v1.34.1', replicas: 3 }]);
  });

  it('replaces the only machine without losing etcd', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    await w.patchControlPlane(upgrade);
    await w.until(w.settled(1));
    expect((await w.machines())[0]?.spec.version).toBe('v1.34.1');
    expect(w.etcd.log.some((line) => line.startsWith('leader'))).toBe(true);
  });

  it('deletes a machine first when maxSurge is 0', async () => {
    const rollout = { strategy: { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: 0 } } };
    const w = await begin({ replicas: 3, rollout });
    await w.until(w.settled(3));
    await createTemplate(w, 'bigger');
    await w.patchControlPlane({
      spec: {
        machineTemplate: {
          spec: { infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeMachineTemplate', name: 'bigger' } },
        },
      },
    });
    let most = 0;
    await w.until(async () => isTrue(await w.controlPlane(), 'RollingOut'));
    await w.until(async () => {
      most = Math.max(most, (await w.machines()).length);
      return await w.settled(3)();
    });
    expect(most).toBe(3);
    for (const machine of await w.list(FakeMachines)) {
      expect(machine.metadata.annotations?.['cluster.x-k8s.io/cloned-from-name']).toBe('bigger');
    }
  });

  it('starts after a configuration change and at rollout.after', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    const [first] = names(await w.machines());
    await w.patchControlPlane({ spec: { kubeadmConfigSpec: { preKubeadmCommands: ['echo'] } } });
    await w.until(async () => isTrue(await w.controlPlane(), 'RollingOut'));
    expect(await messageOf(w, 'RollingOut')).toContain('* KubeadmConfig is not up-to-date');
    await w.until(w.settled(1));
    const [second] = names(await w.machines());
    expect(second).not.toBe(first);
    const after = new Date(w.clock.now() + 600_000).toISOString();
    await w.patchControlPlane({ spec: { rollout: { after: `${after.slice(0, 19)}Z` } } });
    await w.until(w.settled(1));
    expect(names(await w.machines())).toEqual([second]);
    await w.until(async () => isTrue(await w.controlPlane(), 'RollingOut'));
    await w.until(w.settled(1));
    expect(names(await w.machines())).not.toEqual([second]);
  });

  it('replaces machines before their certificates expire', async () => {
    const dayMs = 24 * 3_600_000;
    const rollout = { before: { certificatesExpiryDays: 21 } };
    const w = await begin({ rollout }, { certificateLifeMs: 21 * dayMs + 1_800_000 });
    await w.until(w.settled(1));
    await w.until(async () => (await w.list(Machines))[0]?.status?.certificatesExpiryDate !== undefined);
    const [first] = names(await w.machines());
    await w.until(async () => isTrue(await w.controlPlane(), 'RollingOut'), 3_600_000);
    expect(await messageOf(w, 'RollingOut')).toContain('* Certificates will expire soon');
    await w.until(w.settled(1));
    expect(names(await w.machines())).not.toEqual([first]);
  });

  it('continues after a crash at any moment', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    await w.patchControlPlane(upgrade);
    for (let crash = 0; crash < 8; crash++) {
      await w.pass(700 + crash * 900);
      await w.restart();
    }
    await w.until(w.settled(3));
    expect((await w.machines()).every(({ spec }) => spec.version === 'v1.34.1')).toBe(true);
    expect(w.etcd.names()).toEqual(names(await w.machines()));
  });

  it('starts over with another machine when the first one cannot come up', async () => {
    const seen: string[] = [];
    const broken = (name: string): boolean => {
      if (seen.length === 0) seen.push(name);
      return name === seen[0];
    };
    const w = await begin({}, { broken });
    w.setWorkloadDown(true);
    await w.until(async () => (await w.list(FakeMachines)).length === 1);
    await w.pass(60_000);
    const [first] = names(await w.machines());
    await createTemplate(w, 'good');
    await w.patchControlPlane({
      spec: {
        machineTemplate: {
          spec: { infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeMachineTemplate', name: 'good' } },
        },
      },
    });
    await w.until(async () => {
      if (names(await w.machines()).some((name) => name !== first)) w.setWorkloadDown(false);
      return await w.settled(1)();
    });
    expect(names(await w.machines())).not.toEqual([first]);
  });
});

describe('deletion of a control plane machine', () => {
  it('moves the etcd leadership, removes the member, and replaces the machine', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const leader = w.etcd.members.find(({ id }) => id === w.etcd.leader)?.name ?? '';
    await w.client.delete(Machines, { namespace: w.namespace, name: leader });
    await w.until(async () => (await w.find(Machines, leader)) === undefined);
    expect(w.etcd.log[0]).toMatch(/^leader /);
    expect(w.etcd.log[1]).toBe(`removed ${leader}`);
    await w.until(w.settled(3));
    expect(w.etcd.names()).toEqual(names(await w.machines()));
  });

  it('waits for a replacement when it is the only machine', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    const [only] = names(await w.machines());
    await w.client.delete(Machines, { namespace: w.namespace, name: only ?? '' });
    await w.until(async () => (await w.find(Machines, only ?? '')) === undefined);
    expect(w.etcd.hasQuorum()).toBe(true);
    await w.until(w.settled(1));
    expect(w.etcd.names()).toEqual(names(await w.machines()));
    expect(w.etcd.names()).not.toEqual([only]);
  });

  it('together with all other machines still keeps the cluster', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const before = names(await w.machines());
    for (const name of before) await w.client.delete(Machines, { namespace: w.namespace, name });
    await w.until(w.settled(3));
    expect(names(await w.machines()).filter((name) => before.includes(name))).toEqual([]);
    expect(w.etcd.hasQuorum()).toBe(true);
  });

  it('waits and says why when the other members would lose their quorum', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const [dead, leaving] = names(await w.machines());
    await w.kill(dead ?? '');
    await w.client.delete(Machines, { namespace: w.namespace, name: leaving ?? '' });
    await w.pass(600_000);
    expect(await w.find(Machines, leaving ?? '')).toBeDefined();
    expect(w.etcd.names()).toHaveLength(3);
    const { items } = await w.client.list(CoreEvents, { namespace: w.namespace });
    const told = items.map((event) => (event as { message?: string }).message ?? '');
    expect(told.some((text) => text.includes('etcd would lose its quorum'))).toBe(true);
  });

  it('waits for a while when the machine may be joining the only etcd member', async () => {
    let first: string | undefined;
    const broken = (name: string): boolean => {
      first ??= name;
      return name !== first;
    };
    const w = await begin({}, { broken });
    await w.until(w.settled(1));
    await w.patchControlPlane({ spec: { replicas: 3 } });
    await w.until(async () => (await w.list(FakeMachines)).length === 2);
    const late = names(await w.machines()).find((name) => name !== first) ?? '';
    await w.client.delete(Machines, { namespace: w.namespace, name: late });
    await w.pass(240_000);
    expect(await w.find(Machines, late)).toBeDefined();
    expect((await w.controlPlane()).status?.conditions?.map(({ message }) => message).join()).toContain(late);
    await w.until(async () => (await w.find(Machines, late)) === undefined);
    expect(w.etcd.names()).toEqual([first]);
  });
});

const CoreEvents: Resource<UnstructuredObject> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

describe('etcd members without a machine', () => {
  it('are removed', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    w.etcd.join('stranger', '10.9.9.9');
    w.etcd.announce('10.9.9.8');
    await w.until(async () => w.etcd.names().length === 3, 3_600_000);
    expect(w.etcd.names()).toEqual(names(await w.machines()));
  });
});

describe('an unhealthy control plane machine', () => {
  async function markIll(w: KubeadmWorld, name: string): Promise<void> {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const machine = await w.client.get(Machines, { namespace: w.namespace, name });
    const conditions: JsonObject[] = [
      ...asJson(
        (machine.status?.conditions ?? []).filter(
          ({ type }) => type !== 'HealthCheckSucceeded' && type !== 'OwnerRemediated',
        ),
      ),
      { type: 'HealthCheckSucceeded', status: 'False', reason: 'UnhealthyNode', message: '', lastTransitionTime },
      { type: 'OwnerRemediated', status: 'False', reason: 'WaitingForRemediation', message: '', lastTransitionTime },
    ];
    await w.client.patch(
      Machines,
      { namespace: w.namespace, name },
      'merge',
      { status: { conditions } },
      { ...by, subresource: 'status' },
    );
  }

  it('is replaced, and its replacement records the remediation', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const [ill] = names(await w.machines());
    await w.kill(ill ?? '');
    await markIll(w, ill ?? '');
    await w.until(w.settled(3));
    const all = await w.machines();
    expect(names(all)).not.toContain(ill);
    const replacement = all.find(
      ({ metadata }) => metadata.annotations?.['controlplane.cluster.x-k8s.io/remediation-for'],
    );
    expect(
      JSON.parse(replacement?.metadata.annotations?.['controlplane.cluster.x-k8s.io/remediation-for'] ?? ''),
    ).toMatchObject({
      machine: ill,
      retryCount: 0,
    });
    const controlPlane = await w.controlPlane();
    expect(controlPlane.metadata.annotations ?? {}).toEqual({});
    expect(controlPlane.status?.lastRemediation).toMatchObject({ machine: ill, retryCount: 0 });
    expect(w.etcd.names()).toEqual(names(all));
  });

  it('is kept when too many are unhealthy, and a condition says why', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const [first, second] = names(await w.machines());
    await w.kill(first ?? '');
    await w.kill(second ?? '');
    await markIll(w, first ?? '');
    await w.until(
      async () =>
        conditionOf(await w.find(Machines, first ?? ''), 'OwnerRemediated')?.reason !== 'WaitingForRemediation',
    );
    const condition = conditionOf(await w.find(Machines, first ?? ''), 'OwnerRemediated');
    expect(condition?.message).toMatch(/etcd/);
    await w.pass(600_000);
    expect(w.etcd.names()).toHaveLength(3);
    expect(isTrue(await w.controlPlane(), 'Remediating')).toBe(true);
  });

  it('is kept when it is the only one', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    const [only] = names(await w.machines());
    await markIll(w, only ?? '');
    await w.until(
      async () => conditionOf(await w.find(Machines, only ?? ''), 'OwnerRemediated')?.reason === 'CannotBeRemediated',
    );
    expect(await w.find(Machines, only ?? '')).toBeDefined();
  });

  it('that never came up is replaced before initialization, up to maxRetry times', async () => {
    const w = await begin({ remediation: { maxRetry: 1 } }, { broken: () => true });
    await w.until(async () => (await w.machines()).length === 1);
    const [first] = names(await w.machines());
    await markIll(w, first ?? '');
    await w.until(async () => !names(await w.machines()).includes(first ?? '') && (await w.machines()).length === 1);
    const [second] = names(await w.machines());
    await markIll(w, second ?? '');
    await w.until(async () => !names(await w.machines()).includes(second ?? '') && (await w.machines()).length === 1);
    const [third] = names(await w.machines());
    await markIll(w, third ?? '');
    await w.until(
      async () => conditionOf(await w.find(Machines, third ?? ''), 'OwnerRemediated')?.reason === 'CannotBeRemediated',
    );
    expect(conditionOf(await w.find(Machines, third ?? ''), 'OwnerRemediated')?.message).toContain(
      'already failed 1 times',
    );
  });
});

describe('a kubeadm control plane without its workload API', () => {
  it('changes nothing, and its conditions become unknown after a while', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const before = names(await w.machines());
    w.setWorkloadDown(true);
    await w.pass(60_000);
    await w.patchControlPlane({ spec: { replicas: 5, version: 'v1.34.1' } });
    await w.pass(120_000);
    expect(isTrue(await w.controlPlane(), 'EtcdClusterHealthy')).toBe(true);
    await w.pass(600_000);
    expect(conditionOf(await w.controlPlane(), 'EtcdClusterHealthy')).toMatchObject({
      status: 'Unknown',
      reason: 'ConnectionDown',
    });
    expect(names(await w.machines())).toEqual(before);
    w.setWorkloadDown(false);
    await w.until(w.settled(5));
  });
});

describe('scaling a kubeadm control plane', () => {
  it('waits for unhealthy components and reports them', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    const [sick] = names(await w.machines());
    await w.kill(sick ?? '');
    await w.patchControlPlane({ spec: { replicas: 5 } });
    await w.until(async () => (await messageOf(w, 'ScalingUp')).includes('blocked'));
    expect(await messageOf(w, 'ScalingUp')).toBe(
      'Scaling up from 3 to 5 replicas is blocked because:\n* waiting for control plane components to become healthy\n* waiting for etcd cluster to become healthy',
    );
    expect(await w.machines()).toHaveLength(3);
  });

  it('reports a missing machine template', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    await w.client.delete(FakeMachineTemplates, { namespace: w.namespace, name: 'cp' });
    await w.patchControlPlane({ spec: { replicas: 3 } });
    await w.until(async () => (await messageOf(w, 'ScalingUp')).includes('FakeMachineTemplate does not exist'));
    await createTemplate(w, 'cp');
    await w.until(w.settled(3));
  });
});

describe('deletion of a kubeadm control plane', () => {
  it('deletes all machines without waiting for etcd', async () => {
    const w = await begin({ replicas: 3 });
    await w.until(w.settled(3));
    w.setWorkloadDown(true);
    await w.client.delete(KubeadmControlPlanes, { namespace: w.namespace, name: 'cp' });
    await w.until(async () => (await w.find(KubeadmControlPlanes, 'cp')) === undefined);
    expect(await w.list(Machines)).toEqual([]);
    expect(await w.list(FakeMachines)).toEqual([]);
  });

  it('waits until the workers are deleted', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    await w.client.create(
      Machines,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { name: 'worker', namespace: w.namespace },
        spec: {
          clusterName: 'c1',
          bootstrap: { dataSecretName: 'x' },
          infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeMachine', name: 'worker' },
        },
      },
      by,
    );
    await w.pass(1_000);
    await w.client.delete(KubeadmControlPlanes, { namespace: w.namespace, name: 'cp' });
    await w.until(async () => (await messageOf(w, 'Deleting')).includes('* Machines: worker'));
    expect(conditionOf(await w.controlPlane(), 'Deleting')?.reason).toBe('WaitingForWorkersDeletion');
    expect(await w.machines()).toHaveLength(1);
    await w.client.delete(Machines, { namespace: w.namespace, name: 'worker' });
    await w.until(async () => (await w.find(KubeadmControlPlanes, 'cp')) === undefined);
  });
});

describe('a paused kubeadm control plane', () => {
  it('changes nothing', async () => {
    const w = await begin();
    await w.until(w.settled(1));
    await w.patchControlPlane({ metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } }, spec: { replicas: 3 } });
    await w.until(async () => isTrue(await w.controlPlane(), 'Paused'));
    await w.pass(600_000);
    expect(await w.machines()).toHaveLength(1);
    await w.patchControlPlane({ metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
    await w.until(w.settled(3));
  });
});
