import {
  Clusters,
  MachineDeployments,
  MachineHealthChecks,
  Machines,
  PodDisruptionBudgets,
  Pods,
  Secrets,
} from '../../../src/api/index.ts';
import type { JsonObject, KubeObject } from '../../../src/machinery/index.ts';
import type { FaultRule } from '../../../src/simulator/index.ts';
import { deploymentName, namespace } from '../cluster-manifests.ts';
import { by, type System } from '../system.ts';
import type { CausedFault, Struck } from './fault.ts';

const inOpenStackCluster = /^OpenStackCluster\/\*$/;
const inControlPlaneMachine = /^OpenStackMachine\/\*-control-plane-/;
const inWorker = /^OpenStackMachine\/\*-md-0-/;
const quotaCure = /free some of it or ask/;

type Service = 'compute' | 'network' | 'volume' | 'load-balancer';

/** Sets an exhausted quota for the project. */
function quota(service: Service, resource: string, usual: number): Pick<CausedFault, 'before' | 'after'> {
  const set = async ({ cloud, tenant }: System, limit: number): Promise<void> => {
    cloud.operator.setQuota(service as never, await tenant.projectId(), { [resource]: limit });
  };
  return { before: (system) => set(system, 0), after: (system) => set(system, usual) };
}

/** Installs a fault rule in the cloud. */
function rule(when: FaultRule['when'], effect: FaultRule['effect']): Pick<CausedFault, 'before' | 'after'> {
  return {
    before: ({ cloud }) => cloud.operator.faults.set({ id: 'cause', when: { project: 'demo', ...when }, effect }),
    after: ({ cloud }) => cloud.operator.faults.clear(),
  };
}

/** A fault of an existing cluster, reverted afterwards. */
function later(
  strike: NonNullable<CausedFault['strike']>,
  after?: CausedFault['after'],
): Pick<CausedFault, 'strike' | 'after'> {
  return { strike, ...(after && { after }) };
}

async function machinesOf({ client }: System, name: string, role: 'control-plane' | 'md-0') {
  const { items } = await client.list(Machines, { namespace });
  return items.filter(({ metadata }) => metadata.name?.startsWith(`${name}-${role}-`));
}

async function serversOf(system: System, name: string, role: 'control-plane' | 'md-0'): Promise<string[]> {
  return (await machinesOf(system, name, role)).map(({ spec }) => spec.providerID?.split('/').at(-1) ?? '');
}

const patch = (system: System, kind: Parameters<System['client']['patch']>[0], name: string, change: JsonObject) =>
  system.client.patch(kind, { namespace, name }, 'merge', change, by);

const scaleUp = ({ system, name }: Struck) =>
  patch(system, MachineDeployments, deploymentName({ name } as never), { spec: { replicas: 2 } });

const credentials = async (system: System, change: (text: string) => string): Promise<void> => {
  const data = { 'clouds.yaml': Buffer.from(change(system.cloudsYaml)).toString('base64') };
  await patch(system, Secrets, 'cloud-config', { data });
};

/** Faults of clouds and operators, one after the other in the same world. */
export const wrongClouds: readonly CausedFault[] = [
  {
    what: 'the quota of cores is used up',
    ...quota('compute', 'cores', 8000),
    says: { object: inControlPlaneMachine, message: /[Qq]uota exceeded for cores/, next: quotaCure },
  },
  {
    what: 'the quota of memory is used up',
    ...quota('compute', 'ram', 32_000 * 1024),
    says: { object: inControlPlaneMachine, message: /[Qq]uota exceeded for ram/, next: quotaCure },
  },
  {
    what: 'the quota of instances is used up',
    ...quota('compute', 'instances', 1000),
    says: { object: inControlPlaneMachine, message: /[Qq]uota exceeded for instances/, next: quotaCure },
  },
  {
    what: 'the quota of ports is used up',
    ...quota('network', 'port', 10_000),
    says: { object: /./, message: /Quota exceeded for resources: \['port'\]/, next: quotaCure },
  },
  {
    what: 'the quota of floating IPs is used up',
    ...quota('network', 'floatingip', 500),
    says: { object: /./, message: /Quota exceeded for resources: \['floatingip'\]/, next: quotaCure },
  },
  {
    what: 'the quota of networks is used up',
    ...quota('network', 'network', 500),
    says: { object: inOpenStackCluster, message: /Quota exceeded for resources: \['network'\]/, next: quotaCure },
  },
  {
    what: 'the quota of routers is used up',
    ...quota('network', 'router', 200),
    says: { object: inOpenStackCluster, message: /Quota exceeded for resources: \['router'\]/, next: quotaCure },
  },
  {
    what: 'the quota of security groups is used up',
    ...quota('network', 'security_group', 1000),
    says: {
      object: inOpenStackCluster,
      message: /Quota exceeded for resources: \['security_group'\]/,
      next: quotaCure,
    },
  },
  {
    what: 'the quota of volumes is used up',
    cluster: { bootFromVolume: true },
    ...quota('volume', 'volumes', 2000),
    says: { object: inControlPlaneMachine, message: /[Qq]uota/, next: quotaCure },
  },
  {
    what: 'the quota of load balancers is used up',
    cluster: { endpoint: 'load-balancer' },
    ...quota('load-balancer', 'load_balancer', -1),
    says: { object: inOpenStackCluster, message: /[Qq]uota/, next: quotaCure },
  },
  {
    what: 'no host has room',
    ...rule(
      { operation: 'server.build' },
      { kind: 'error', message: 'No valid host was found. There are not enough hosts available.' },
    ),
    says: {
      object: inControlPlaneMachine,
      message: /No valid host was found/,
      next: /another flavor or availability zone/,
    },
  },
  {
    what: 'servers go to ERROR',
    ...rule({ operation: 'server.build' }, { kind: 'error', message: 'Build of instance aborted: image is corrupt' }),
    says: { object: inControlPlaneMachine, message: /image is corrupt/, next: /./ },
  },
  {
    what: 'servers stay in BUILD',
    ...rule({ operation: 'server.build' }, { kind: 'stuck' }),
    says: { object: inControlPlaneMachine, message: /is being built/, next: /operator/ },
  },
  {
    what: 'a policy forbids servers',
    ...rule(
      { service: 'compute', method: 'POST', path: '/v2.1/servers' },
      { kind: 'status', status: 403, message: "Policy doesn't allow os_compute_api:servers:create to be performed." },
    ),
    says: { object: inControlPlaneMachine, message: /Policy doesn't allow/, next: /role/ },
  },
  {
    what: 'nova is away',
    ...rule({ service: 'compute' }, { kind: 'status', status: 503, message: 'The service is unavailable' }),
    says: { object: /./, message: /compute: .*away for the moment/, next: /wait.*operator/ },
  },
  {
    what: 'neutron fails',
    ...rule(
      { service: 'network', method: 'POST' },
      { kind: 'status', status: 500, message: 'Request Failed: internal server error' },
    ),
    says: { object: inOpenStackCluster, message: /network: .*failure of the cloud/, next: /operator/ },
  },
  {
    what: 'neutron wants fewer requests',
    ...rule(
      { service: 'network', method: 'POST' },
      { kind: 'status', status: 429, message: 'Too many requests', retryAfter: 60 },
    ),
    says: { object: inOpenStackCluster, message: /network: .*limits the rate of requests/, next: /wait/ },
  },
  {
    what: 'keystone is away',
    before(system) {
      system.cloud.operator.faults.set({
        id: 'cause',
        when: { service: 'identity' },
        effect: { kind: 'status', status: 503, message: 'The service is unavailable' },
      });
      system.cloud.operator.expireTokens();
    },
    after: ({ cloud }) => cloud.operator.faults.clear(),
    says: { object: /./, message: /identity: .*away for the moment/, next: /wait/ },
  },
  {
    what: 'volumes stay in creating',
    cluster: { bootFromVolume: true },
    ...rule({ operation: 'volume.create' }, { kind: 'stuck' }),
    says: { object: inControlPlaneMachine, message: /volumes to be available/, next: /openstack volume list/ },
  },
  {
    what: 'volumes go to error',
    cluster: { bootFromVolume: true },
    ...rule({ operation: 'volume.create' }, { kind: 'error', message: 'no backend' }),
    says: { object: inControlPlaneMachine, message: /[Vv]olume .*error/i, next: /./ },
  },
  {
    what: 'load balancers stay in PENDING_CREATE',
    cluster: { endpoint: 'load-balancer' },
    ...rule({ operation: 'loadbalancer.create' }, { kind: 'stuck' }),
    says: { object: inOpenStackCluster, message: /PENDING_CREATE/, next: /openstack loadbalancer/ },
  },
  {
    what: 'load balancers go to ERROR',
    cluster: { endpoint: 'load-balancer' },
    ...rule({ operation: 'loadbalancer.create' }, { kind: 'error' }),
    // It is replaced each time, so sometimes it is just being deleted, or the next one created.
    says: {
      object: inOpenStackCluster,
      message: /is PENDING_(?:CREATE|DELETE)|came up in ERROR/,
      next: /openstack loadbalancer/,
    },
  },
  {
    what: 'octavia is away',
    cluster: { endpoint: 'load-balancer' },
    ...rule({ service: 'load-balancer' }, { kind: 'status', status: 503, message: 'The service is unavailable' }),
    says: { object: inOpenStackCluster, message: /load-balancer: .*away for the moment/, next: /wait/ },
  },
  {
    what: 'a server is deleted by somebody, and its machine is kept',
    cluster: { workers: 1 },
    ...later(async ({ system, name }) => {
      const annotations = { 'cluster.x-k8s.io/skip-remediation': '' };
      await patch(system, Clusters, name, { metadata: { annotations } });
      const [id = ''] = await serversOf(system, name, 'md-0');
      system.cloud.operator.deleteServer(id);
    }),
    says: { object: inWorker, message: /not in the cloud|gone|deleted/, next: /delete machine/ },
  },
  {
    what: 'a worker is stopped by somebody',
    cluster: { workers: 1 },
    ...later(async ({ system, name }) => {
      const [id = ''] = await serversOf(system, name, 'md-0');
      system.cloud.operator.stopServer(id);
    }),
    says: { object: inWorker, message: /SHUTOFF|stopped/, next: /openstack server start/ },
  },
  {
    what: 'a worker goes to ERROR',
    cluster: { workers: 1 },
    ...later(async ({ system, name }) => {
      const [id = ''] = await serversOf(system, name, 'md-0');
      system.cloud.operator.breakServer(id, 'the hypervisor is on fire');
    }),
    says: { object: inWorker, message: /the hypervisor is on fire/, next: /./ },
  },
  {
    what: 'the load balancer goes to ERROR later',
    cluster: { endpoint: 'load-balancer' },
    ...later(async ({ system }) => {
      for await (const { id } of system.tenant.loadBalancer.loadBalancers.list({})) {
        system.cloud.operator.breakLoadBalancer(id);
      }
    }),
    says: { object: inOpenStackCluster, message: /ERROR/, next: /openstack loadbalancer/ },
  },
  {
    what: 'the password is changed by somebody',
    ...later(
      ({ system }) => credentials(system, (text) => text.replaceAll(/password: .*/g, 'password: old')),
      (system) => credentials(system, (text) => text),
    ),
    says: { object: inOpenStackCluster, message: /does not accept user/, next: /Secret that identityRef names/ },
  },
  {
    what: 'the quota has no room for another worker',
    cluster: { workers: 1 },
    ...later(
      async (struck) => {
        await quota('compute', 'instances', 1000).before?.(struck.system, struck.name);
        await scaleUp(struck);
      },
      quota('compute', 'instances', 1000).after,
    ),
    says: { object: inWorker, message: /[Qq]uota exceeded for instances/, next: quotaCure },
  },
  {
    what: 'all machines of the control plane are stopped',
    ...later(async ({ system, name }) => {
      for (const id of await serversOf(system, name, 'control-plane')) system.cloud.operator.stopServer(id);
    }),
    says: { object: inControlPlaneMachine, message: /SHUTOFF|stopped/, next: /openstack server start/ },
  },
  {
    what: 'etcd has lost its majority',
    cluster: { controlPlanes: 3 },
    ...later(async ({ system, name }) => {
      const ids = await serversOf(system, name, 'control-plane');
      for (const id of ids.slice(0, 2)) system.cloud.operator.stopServer(id);
    }),
    says: { object: inControlPlaneMachine, message: /SHUTOFF|stopped/, next: /openstack server start/ },
  },
  {
    what: 'a hook of the user keeps a machine',
    cluster: { workers: 1 },
    ...later(async ({ system, name }) => {
      const [machine] = await machinesOf(system, name, 'md-0');
      const key = machine?.metadata.name ?? '';
      const annotations = { 'pre-drain.delete.hook.machine.cluster.x-k8s.io/backup': 'mine' };
      await patch(system, Machines, key, { metadata: { annotations } });
      await system.client.delete(Machines, { namespace, name: key });
    }),
    says: { object: /^Machine\/\*-md-0/, message: /pre-drain.*backup/, next: /./ },
  },
  {
    what: 'a disruption budget keeps a machine from being drained',
    cluster: { workers: 1 },
    ...later(async ({ system, name, workload }) => {
      const [machine] = await machinesOf(system, name, 'md-0');
      const api = await workload();
      await api.create(Pods, podOn(machine?.status?.nodeRef?.name ?? ''), by);
      await api.create(PodDisruptionBudgets, budget, by);
      // A Pod that does not run yet may always be evicted.
      await system.pass(60_000);
      await system.client.delete(Machines, { namespace, name: machine?.metadata.name ?? '' });
    }),
    says: {
      object: /^Machine\/\*-md-0/,
      message: /PodDisruptionBudget|disruption budget/,
      next: /PodDisruptionBudget/,
    },
  },
  {
    what: 'a finalizer of somebody keeps a machine of a cluster that is deleted',
    cluster: { workers: 1 },
    ...later(async ({ system, name }) => {
      const [machine] = await machinesOf(system, name, 'md-0');
      const finalizers = [...(machine?.metadata.finalizers ?? []), 'example.com/mine'];
      await patch(system, Machines, machine?.metadata.name ?? '', { metadata: { finalizers } });
      await system.client.delete(Clusters, { namespace, name });
    }),
    says: { object: /^Machine\/\*-md-0/, message: /example\.com\/mine/, next: /./ },
  },
  {
    what: 'somebody has a port in the network of a cluster that is deleted',
    ...later(async ({ system, name }) => {
      for await (const { id } of system.tenant.network.networks.list({
        name: `k8s-clusterapi-cluster-${namespace}-${name}`,
      })) {
        await system.tenant.network.ports.create({ networkId: id, name: 'foreign' });
      }
      await system.client.delete(Clusters, { namespace, name });
    }),
    says: { object: inOpenStackCluster, message: /in use|port/, next: /./ },
  },
  {
    what: 'a deletion waits for a cluster that is paused',
    ...later(async ({ system, name }) => {
      await patch(system, Clusters, name, { spec: { paused: true } });
      await system.client.delete(Clusters, { namespace, name });
    }),
    says: { object: /./, message: /spec\.paused/, next: /paused/ },
  },
  {
    what: 'a health check stops because too many machines are ill',
    cluster: { workers: 2 },
    ...later(async ({ system, name }) => {
      await system.client.create(MachineHealthChecks, healthCheck(name), by);
      await system.pass(60_000);
      for (const id of await serversOf(system, name, 'md-0')) system.cloud.operator.stopServer(id);
    }),
    says: {
      object: /MachineHealthCheck|OpenStackMachine\/\*-md-0/,
      message: /SHUTOFF|stopped|[Rr]emediation is not allowed/,
      next: /./,
    },
  },
  {
    what: 'nobody has installed a cloud controller manager',
    says: {
      object: /^Cluster\/\*$/,
      message: /there is none, and \*-control-plane-\S+ cannot be used without it/,
      next: /install the OpenStack cloud controller manager/,
    },
  },
  {
    what: 'the account of the controllers may not read the Nodes',
    ...later(async ({ system, name }) => {
      const { data } = await system.client.get(Secrets, { namespace, name: `${name}-kubeconfig` });
      const text = Buffer.from(data?.['value'] ?? '', 'base64').toString();
      const value = Buffer.from(
        text
          .replace(/client-(?:certificate|key)-data: .*\n/g, '')
          .replace(/user:\s*\n?(?=\s*$|\n\S)/, 'user: {token: nobody}\n'),
      ).toString('base64');
      await patch(system, Secrets, `${name}-kubeconfig`, { data: { value } });
    }),
    says: { object: /./, message: /Nodes cannot be read: .*(?:[Uu]nauthorized|forbidden)/, next: /kubeconfig/ },
  },
];

function podOn(nodeName: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'precious', namespace: 'default', labels: { app: 'precious' } },
    spec: { nodeName, containers: [{ name: 'a', image: 'registry.k8s.io/pause:3.10' }] },
  } as KubeObject;
}

const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'precious', namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'precious' } } },
} as KubeObject;

const healthCheck = (name: string): KubeObject =>
  ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineHealthCheck',
    metadata: { name: `${name}-workers`, namespace },
    spec: {
      clusterName: name,
      selector: { matchLabels: { 'cluster.x-k8s.io/deployment-name': `${name}-md-0` } },
      checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 120 }] },
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: 1 } },
    },
  }) as KubeObject;
