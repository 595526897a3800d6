import type { CertificateAndKey } from '../../../../pki/index.ts';
import type { HttpAnswer, PortService, WorkloadCluster } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import type { Rke2Config } from './config.ts';
import { authority, issueClient, sharedFiles } from './pki.ts';

export const supervisorPort = 9345;

/** What a server refuses a request with. */
export class SupervisorRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'SupervisorRefusal';
    this.status = status;
  }
}

/** What a machine that registers is told. */
export interface Registration {
  readonly serverAuthority: string;
  readonly kubelet: CertificateAndKey;
  readonly networkPlugins: readonly string[];
  readonly hasCloudController: boolean;
}

export interface SupervisorOptions {
  readonly machine: RunningMachine;
  readonly config: Rke2Config;
  /** the cluster whose API this server serves; undefined while it does not */
  readonly cluster: () => WorkloadCluster | undefined;
}

/**
 * The port of a server that machines register at. It opens when rke2 starts, long before the server can take anybody in:
 * until its API answers, everybody is sent away.
 */
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

  /** for anybody */
  authorities(): string {
    const { machine, config } = this.#options;
    return authority(machine.disk, config, 'server-ca').certificate;
  }

  /** what a server that joins starts from */
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

/** `K10HASH::server:SECRET` or the secret alone */
function secretOf(token: string): string {
  return token.includes('::') ? (token.split(':').at(-1) ?? '') : token;
}

/** Who answers at which port: registrations are not carried over bytes here. */
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
