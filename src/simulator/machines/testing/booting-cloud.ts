import type { Logger } from '../../../runtime/index.ts';
import type { PortService } from '../../../simkube/index.ts';
import type { CloudOptions } from '../../cloud.ts';
import { type TestTenant, testTenant } from '../../testing/test-tenant.ts';
import type { RunningMachine, Software } from '../types.ts';

/** A booting cloud with helpers for tests. */
export interface BootingCloud extends TestTenant {
  /** programs that ran: `name: program args` */
  readonly ran: string[];
  /** Creates a server with user data and boots it. Returns its id. */
  bootServer(userData?: string | Uint8Array, desired?: Record<string, unknown>): Promise<string>;
  console(id: string): Promise<string>;
  machine(id: string): RunningMachine;
  /** content of a machine's file */
  file(id: string, path: string): string | undefined;
}

/** A test service that sends its name to every connection. */
export function greeter(name: string): PortService & { readonly name: string } {
  return {
    name,
    accept: (socket) => {
      socket.end(name);
    },
  };
}

/** Test software with a program that serves a port and a scriptable one. */
export function testSoftware(ran: string[] = []): Software {
  return {
    programs: {
      'serve-port': async (machine, [port = '']) => {
        ran.push(`${machine.hostname}: serve-port ${port}`);
        machine.listen(Number(port), greeter(`${machine.hostname}:${port}`));
        return 0;
      },
      kubeadm: async (machine, args) => {
        ran.push(`${machine.hostname}: kubeadm ${args.join(' ')}`);
        machine.console.write(`[${args[0]}] kubeadm was here\n`);
        return machine.disk.read('/etc/kubeadm-fails') === undefined ? 0 : 1;
      },
    },
    services: [
      {
        name: 'greeter',
        enabled: (disk) => disk.read('/etc/greeter') !== undefined,
        start: (machine) => {
          ran.push(`${machine.hostname}: greeter`);
          machine.listen(Number(machine.disk.read('/etc/greeter')), greeter(machine.hostname));
        },
      },
    ],
    forget: (id) => void ran.push(`forget ${id}`),
    close: async () => {},
  };
}

export async function bootingCloud(
  options: Partial<CloudOptions> & { sockets?: boolean; log?: Logger; seed?: number } = {},
): Promise<BootingCloud> {
  const ran: string[] = [];
  const { sockets = false, log, ...rest } = options;
  const machines = { software: () => testSoftware(ran), sockets, ...(log && { log }) };
  const tenant = await testTenant({ machines, ...rest });
  const running = tenant.cloud.machines!;
  return {
    ...tenant,
    ran,
    async bootServer(userData, desired = {}) {
      const id = await tenant.makeServer({
        ...(userData !== undefined && { user_data: Buffer.from(userData).toString('base64') }),
        ...desired,
      });
      await tenant.clock.advance(30_000);
      return id;
    },
    async console(id) {
      const answer = await tenant.nova('POST', `/servers/${id}/action`, { 'os-getConsoleOutput': {} });
      return tenant.read(answer, 'output');
    },
    machine(id) {
      const machine = running.running(id);
      if (!machine) throw new Error(`server ${id} is switched off`);
      return machine;
    },
    file: (id, path) => running.running(id)?.disk.read(path),
  };
}
