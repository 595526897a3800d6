import type { RunningMachine } from '../../types.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import type { Rke2Config } from './config.ts';
import { bringNetwork, reachSupervisor, type Say, startKubelet, writeKubeletCredentials } from './node.ts';
import { Rke2Refusal } from './refusal.ts';
import type { ServerAddresses } from './server-addresses.ts';

export interface AgentRun {
  readonly machine: RunningMachine;
  readonly kubelet: Kubelet;
  readonly addresses: ServerAddresses;
  readonly config: Rke2Config;
  readonly version: string;
  readonly say: Say;
}

/** Runs `rke2 agent`, which adds a worker. Resolves once its kubelet runs. */
export async function runAgent({ machine, kubelet, addresses, config, version, say }: AgentRun): Promise<void> {
  const { server, token } = config;
  if (server === undefined) throw new Rke2Refusal('--server is required');
  if (token === undefined) throw new Rke2Refusal('--token is required');
  // Registers again at every start, because certificates and settings may have changed.
  const { registration, host, cluster } = await reachSupervisor(machine, server, say, async (supervisor, at) => ({
    registration: await supervisor.register(token, config.nodeName),
    host: at,
    cluster: supervisor.cluster?.id ?? '',
  }));
  writeKubeletCredentials(machine, config, registration, host);
  bringNetwork(machine, registration.networkPlugins);
  say('info', 'Running kubelet');
  startKubelet(kubelet, config, version, {
    hasCloudController: registration.hasCloudController,
    otherServers: () => addresses.of(cluster),
  });
}
