import type { CertificateAndKey } from '../../../../pki/index.ts';
import type { HttpAnswer, PortService, WorkloadCluster } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import type { Rke2Config } from './config.ts';
import { authority, issueClient, sharedFiles } from './pki.ts';

export const supervisorPort = 9345;

/** A refused request of a server. */
export class SupervisorRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'SupervisorRefusal';
    this.status = status;
  }
}

/** Data that a registering machine receives. */
export interface Registration {
  readonly serverAuthority: string;
  readonly kubelet: CertificateAndKey;
  readonly networkPlugins: readonly string[];
  readonly hasCloudController: boolean;
}

export interface SupervisorOptions {
  readonly machine: RunningMachine;
  readonly config: Rke2Config;
  /** cluster served by this server; undefined until its API answers */
  readonly cluster: () => WorkloadCluster | undefined;
}

/** Registration port of a server. It opens when rke2 starts, but refuses all requests until the API answers. */
export class Supervisor {
  readonly #options: SupervisorOptions;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get address(): string {
    return this.#options.machine.addresses[0] ?? '';
  }

  get cluster(): WorkloadCluster | undefined {
    return this.#options.cluster();
  }

  /** open to everyone, without a token */
  authorities(): string {
    const { machine, config } = this.#options;
    return authority(machine.disk, config, 'server-ca').certificate;
  }

  /** files and cluster for a joining server */
  bootstrap(token: string | undefined): { files: Map<string, string>; cluster: WorkloadCluster } {
    const cluster = this.#admit(token);
    const { machine, config } = this.#options;
    return { files: sharedFiles(machine.disk, config), cluster };
  }

  async register(token: string | undefined, nodeName: string): Promise<Registration> {
    this.#admit(token);
    const { machine, config } = this.#options;
    return {
      serverAuthority: this.authorities(),
      kubelet: await issueClient(machine, config, {
        commonName: `system:node:${nodeName}`,
        organization: 'system:nodes',
      }),
      networkPlugins: config.networkPlugins,
      hasCloudController: config.hasCloudController,
    };
  }

  #admit(token: string | undefined): WorkloadCluster {
    const cluster = this.cluster;
    if (token === undefined || secretOf(token) !== secretOf(this.#options.config.token ?? '')) {
      throw new SupervisorRefusal(401, 'not authorized');
    }
    if (!cluster) throw new SupervisorRefusal(503, 'runtime core not ready');
    return cluster;
  }

  async answer(path: string): Promise<HttpAnswer> {
    if (path === '/ping') return { status: 200, body: 'pong' };
    if (path === '/cacerts') return { status: 200, body: this.authorities() };
    return { status: 401, body: 'not authorized' };
  }
}

/** The token is `K10HASH::server:SECRET`, or the secret alone. */
function secretOf(token: string): string {
  return token.includes('::') ? (token.split(':').at(-1) ?? '') : token;
}

/** Supervisors by port. Registrations do not use a byte stream. */
const supervisors = new WeakMap<PortService, Supervisor>();

export function serveSupervisor(machine: RunningMachine, supervisor: Supervisor): () => void {
  const service: PortService = {
    accept: (socket) => socket.destroy(),
    get: (path) => supervisor.answer(path),
  };
  supervisors.set(service, supervisor);
  return machine.listen(supervisorPort, service);
}

export const supervisorAt = (service: PortService): Supervisor | undefined => supervisors.get(service);
