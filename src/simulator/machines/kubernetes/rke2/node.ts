import { errorMessage } from '../../../../machinery/index.ts';
import { renderKubeconfig } from '../../../../simkube/index.ts';
import { UnreachableError } from '../../network/unreachable.ts';
import type { RunningMachine } from '../../types.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import type { Rke2Config } from './config.ts';
import { Rke2Refusal } from './refusal.ts';
import { type Registration, type Supervisor, SupervisorRefusal, supervisorAt, supervisorPort } from './supervisor.ts';

const apiPort = 6443;
const retryMs = 5_000;

export type Say = (level: string, message: string) => void;

const kubeconfigFile = ({ dataDirectory }: Rke2Config): string => `${dataDirectory}/agent/kubelet.kubeconfig`;
const certificateFile = ({ dataDirectory }: Rke2Config): string => `${dataDirectory}/agent/client-kubelet.pem`;

/** Reports whether the machine registered in an earlier run. */
export const isRegistered = (machine: RunningMachine, config: Rke2Config): boolean =>
  machine.disk.read(kubeconfigFile(config)) !== undefined;

export function writeKubeletCredentials(
  machine: RunningMachine,
  config: Rke2Config,
  { serverAuthority, kubelet }: Pick<Registration, 'serverAuthority' | 'kubelet'>,
  host: string,
): void {
  const { disk } = machine;
  disk.write(certificateFile(config), `${kubelet.certificate}${kubelet.privateKey}`, 0o600);
  const address = host.includes(':') ? `[${host}]` : host;
  const facts = {
    server: `https://${address}:${apiPort}`,
    certificateAuthority: serverAuthority,
    user: `system:node:${config.nodeName}`,
  };
  disk.write(kubeconfigFile(config), renderKubeconfig(facts, 'local', certificateFile(config)), 0o600);
}

/** Writes the network plugin's configuration, which rke2 does on every machine. */
export function bringNetwork({ disk }: RunningMachine, plugins: readonly string[]): void {
  const plugin = plugins.find((name) => name !== 'multus' && name !== 'none');
  if (plugin === undefined) return;
  disk.write(`/etc/cni/net.d/10-${plugin}.conflist`, `{"cniVersion":"1.0.0","name":"${plugin}","plugins":[]}\n`, 0o600);
}

/** Starts the kubelet with the flags that rke2 derives from its settings. */
export function startKubelet(
  kubelet: Kubelet,
  config: Rke2Config,
  version: string,
  around: { hasCloudController: boolean; otherServers: () => readonly string[] },
): void {
  const flags = new Map<string, string>();
  flags.set('hostname-override', config.nodeName);
  if (config.nodeLabels.length > 0) flags.set('node-labels', config.nodeLabels.join(','));
  if (config.nodeTaints.length > 0) flags.set('register-with-taints', config.nodeTaints.join(','));
  // rke2's own cloud controller sets the provider id and removes the taint at once.
  if (around.hasCloudController) flags.set('provider-id', `rke2://${config.nodeName}`);
  else if (config.cloudProvider) flags.set('cloud-provider', config.cloudProvider);
  for (const [name, value] of config.kubeletArgs) {
    const before = flags.get(name);
    const joins = (name === 'node-labels' || name === 'register-with-taints') && before !== undefined;
    flags.set(name, joins ? `${before},${value}` : value);
  }
  const setup = { kubeconfigFile: kubeconfigFile(config), flags, version };
  kubelet.start({
    ...setup,
    otherServers: () => around.otherServers().map((host) => ({ host, port: apiPort })),
  });
}

/** Finds a server to register with. Waits while servers are not ready; a refusal makes rke2 exit. */
export async function reachSupervisor<T>(
  machine: RunningMachine,
  url: string,
  say: Say,
  work: (supervisor: Supervisor, host: string) => Promise<T> | T,
): Promise<T> {
  const { host, port } = addressOf(url);
  let said = '';
  for (;;) {
    try {
      const supervisor = supervisorAt(machine.network.dial(host, port, machine));
      if (!supervisor) throw new Rke2Refusal(`failed to get CA certs: Get "${url}/cacerts": no server of rke2 answers`);
      return await work(supervisor, host);
    } catch (error) {
      machine.signal.throwIfAborted();
      if (error instanceof Rke2Refusal) throw error;
      if (error instanceof SupervisorRefusal && error.status === 401) {
        throw new Rke2Refusal(
          `failed to validate token: https://${host}:${port}/v1-rke2/server-bootstrap: 401 Unauthorized`,
          {
            cause: error,
          },
        );
      }
      if (!(error instanceof SupervisorRefusal || error instanceof UnreachableError)) throw error;
      const words = `Waiting to retrieve configuration; server is not ready: Get "${url}/cacerts": ${errorMessage(error)}`;
      if (words !== said) say('info', words);
      said = words;
    }
    await machine.pass(retryMs);
  }
}

function addressOf(url: string): { host: string; port: number } {
  if (!URL.canParse(url)) throw new Rke2Refusal(`Invalid server url, failed to parse: ${url}`);
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') throw new Rke2Refusal(`only https:// URLs are supported, invalid scheme: ${url}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || supervisorPort };
}
