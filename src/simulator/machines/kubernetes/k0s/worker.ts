import { ConfigMaps, kubernetesVersionOfK0s } from '../../../../api/index.ts';
import { errorMessage } from '../../../../machinery/index.ts';
import {
  decodeJoinToken,
  type KubeconfigFacts,
  readKubeconfig,
  renderKubeconfig,
  workerConfigName,
} from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import { connectWith } from '../connect.ts';
import { KubeadmFailure } from '../kubeadm/failure.ts';
import { bootstrapKubeletCertificate } from '../kubeadm/tls-bootstrap.ts';
import { parseKubeletArguments } from '../kubelet/flags.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import { argumentsInUnit, K0sRefusal, parseWorkerArguments, unitFile, type WorkerArguments } from './arguments.ts';
import { installedK0s } from './binary.ts';

const kubeconfigFile = '/var/lib/k0s/kubelet.conf';
const certificateFile = '/var/lib/k0s/kubelet/pki/kubelet-client-current.pem';
const restartMs = 10_000;
const retryMs = 5_000;
/** time k0s retries before systemd restarts its unit */
const patienceMs = 10 * 60_000;

/** The k0sworker unit of a machine, until power-off. */
export class K0sWorker {
  readonly #machine: RunningMachine;
  readonly #kubelet: Kubelet;
  #isStarted = false;

  constructor(machine: RunningMachine, kubelet: Kubelet) {
    this.#machine = machine;
    this.#kubelet = kubelet;
  }

  /** Starts the unit once. Failures are retried like in systemd. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#run().catch((error: unknown) => {
      if (!this.#machine.signal.aborted) this.#say('error', errorMessage(error));
    });
  }

  async #run(): Promise<void> {
    const machine = this.#machine;
    let said = '';
    for (;;) {
      try {
        await this.#work();
        return;
      } catch (error) {
        machine.signal.throwIfAborted();
        const words = errorMessage(error);
        if (words !== said) this.#say('error', `Error: ${words}`);
        said = words;
      }
      await machine.pass(restartMs);
    }
  }

  /** Joins the cluster if it has not yet, then runs the kubelet. */
  async #work(): Promise<void> {
    const machine = this.#machine;
    const { disk } = machine;
    const binary = installedK0s(machine);
    if (!binary) throw new K0sRefusal('k0s is not installed');
    const settings = parseWorkerArguments(argumentsInUnit(disk.read(unitFile)) ?? []);
    const flags = kubeletFlags(settings);
    const nodeName = flags.get('hostname-override') ?? machine.hostname.toLowerCase();
    if (disk.read(kubeconfigFile) === undefined) {
      const bootstrap = readToken(machine, settings);
      await this.#readProfile(bootstrap, settings.profile, binary.version);
      await join(machine, bootstrap, nodeName);
    }
    this.#say('info', 'Starting kubelet', 'component=kubelet');
    const version = `${kubernetesVersionOfK0s(binary.version)}+k0s`;
    this.#kubelet.start({ kubeconfigFile, flags, version });
  }

  /** Reads the worker profile of this version with the token, which also detects an invalid token. */
  async #readProfile(bootstrap: KubeconfigFacts, profile: string, version: string): Promise<void> {
    const machine = this.#machine;
    const name = workerConfigName(version, profile);
    const deadline = machine.clock.now() + patienceMs;
    let said = '';
    for (;;) {
      try {
        const { client } = connectWith(machine, bootstrap);
        await client.get(ConfigMaps, { namespace: 'kube-system', name });
        return;
      } catch (error) {
        machine.signal.throwIfAborted();
        const words = `failed to load worker configuration: ${errorMessage(error)}`;
        if (words !== said) this.#say('warning', words);
        said = words;
        if (machine.clock.now() + retryMs > deadline) throw new Error(words, { cause: error });
      }
      await machine.pass(retryMs);
    }
  }

  #say(level: string, message: string, more = ''): void {
    this.#machine.console.write(`k0s: level=${level} msg="${message}"${more === '' ? '' : ` ${more}`}\n`);
  }
}

/** The kubelet's own arguments take precedence over those that k0s derives from its flags. */
function kubeletFlags({ labels, taints, hasCloudProvider, kubeletArguments }: WorkerArguments): Map<string, string> {
  const flags = new Map<string, string>();
  if (hasCloudProvider) flags.set('cloud-provider', 'external');
  if (labels !== undefined) flags.set('node-labels', labels);
  if (taints !== undefined) flags.set('register-with-taints', taints);
  for (const [name, value] of parseKubeletArguments(unquoted(kubeletArguments))) {
    const before = flags.get(name);
    const joins = name === 'node-labels' && before !== undefined;
    flags.set(name, joins ? `${before},${value}` : value);
  }
  return flags;
}

function unquoted(text: string): string {
  return text.replace(/^(["'])([\s\S]*)\1$/, '$2');
}

/** Reads the token. Throws the error of k0s if it is unusable. */
function readToken({ disk }: RunningMachine, { tokenFile, token }: WorkerArguments): KubeconfigFacts {
  const text = tokenFile === undefined ? token : disk.read(tokenFile);
  if (text === undefined) {
    throw new K0sRefusal(
      tokenFile === undefined
        ? 'normal kubelet kubeconfig does not exist and no join-token given. dunno how to make kubelet auth to api'
        : `failed to read token file: open ${tokenFile}: no such file or directory`,
    );
  }
  const facts = readKubeconfig(decodeJoinToken(text), disk);
  if (!facts) throw new K0sRefusal('failed to parse join token: it holds no kubeconfig');
  if (facts.user !== 'kubelet-bootstrap') {
    throw new K0sRefusal(`wrong token type ${facts.user}, expected type: kubelet-bootstrap`);
  }
  return facts;
}

/** TLS bootstrap: exchanges the token for a client certificate. */
async function join(machine: RunningMachine, bootstrap: KubeconfigFacts, nodeName: string): Promise<void> {
  let pair: { certificate: string; key: string };
  try {
    const connect = () => connectWith(machine, bootstrap).client;
    pair = await bootstrapKubeletCertificate(machine, connect, nodeName, patienceMs);
  } catch (error) {
    throw error instanceof KubeadmFailure ? new Error(`kubelet: ${error.message}`, { cause: error }) : error;
  }
  machine.disk.write(certificateFile, `${pair.certificate}${pair.key}`, 0o600);
  const { server, certificateAuthority } = bootstrap;
  const facts = { server, certificateAuthority, user: `system:node:${nodeName}` };
  machine.disk.write(kubeconfigFile, renderKubeconfig(facts, 'k0s', certificateFile), 0o600);
}
