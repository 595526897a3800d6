import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type LogEntry, memoryLogger } from '../../../runtime/index.ts';
import { smallWorld } from '../../testing/small-world.ts';
import { type BootingCloud, bootingCloud } from '../testing/booting-cloud.ts';

/** Uses an address range of its own, to avoid other clouds on this host. */
const world = {
  ...smallWorld,
  externalNetworks: [
    {
      name: 'public',
      cidr: '127.71.0.0/16',
      gateway: '127.71.0.1',
      pool: { start: '127.71.0.10', end: '127.71.255.250' },
    },
  ],
};

const isBindable = await new Promise<boolean>((resolve) => {
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen({ host: '127.71.0.9', port: 0 }, () => probe.close(() => resolve(true)));
});

/** Returns the greeting of an address, or the error code. */
function hear(address: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: address, port });
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    socket.once('close', () => resolve(text));
  });
}

let open: BootingCloud | undefined;
let entries: readonly LogEntry[] = [];
afterEach(async () => {
  await open?.cloud.close();
  open = undefined;
});

async function cloudWithServer(
  port: number,
): Promise<BootingCloud & { id: string; address: string; floatingId: string }> {
  const { logger: log, entries: written } = memoryLogger();
  entries = written;
  const cloud = await bootingCloud({ sockets: true, log, world });
  open = cloud;
  const { user, read, subnetId } = cloud;
  const external = read(await user.request('GET', '/network/v2.0/networks?router:external=true'), 'networks.0.id');
  const router = read(
    await user.request('POST', '/network/v2.0/routers', {
      router: { external_gateway_info: { network_id: external } },
    }),
    'router.id',
  );
  await user.request('PUT', `/network/v2.0/routers/${router}/add_router_interface`, { subnet_id: subnetId });
  const [group] = read<{ id: string }[]>(await user.request('GET', '/network/v2.0/security-groups'), 'security_groups');
  await user.request('POST', '/network/v2.0/security-group-rules', {
    security_group_rule: { security_group_id: group!.id, direction: 'ingress', protocol: 'tcp' },
  });
  const id = await cloud.bootServer(`#cloud-config\nwrite_files: [{path: /etc/greeter, content: '${port}'}]\n`);
  const floating = await user.request('POST', '/network/v2.0/floatingips', {
    floatingip: { floating_network_id: external, port_id: cloud.machine(id).server.interfaces[0]!.id },
  });
  await cloud.clock.advance(1_000);
  await cloud.cloud.machines!.socketsSettled();
  return {
    ...cloud,
    id,
    floatingId: read(floating, 'floatingip.id'),
    address: read(floating, 'floatingip.floating_ip_address'),
  };
}

describe.skipIf(!isBindable)('sockets at loopback addresses (this system lets anybody listen on 127.71.0.9)', () => {
  it('are open exactly while something answers there', async () => {
    const { address, cloud, id, clock, floatingId, user } = await cloudWithServer(8443);
    const settled = (): Promise<void> => cloud.machines!.socketsSettled();
    expect(await hear(address, 8443)).toBe('s');
    expect(await hear(address, 8444)).toBe('ECONNREFUSED');
    cloud.operator.stopServer(id);
    await settled();
    expect(await hear(address, 8443)).toBe('ECONNREFUSED');
    cloud.operator.startServer(id);
    await clock.advance(30_000);
    await settled();
    expect(await hear(address, 8443)).toBe('s');
    await user.request('DELETE', `/network/v2.0/floatingips/${floatingId}`);
    await settled();
    expect(await hear(address, 8443)).toBe('ECONNREFUSED');
  });

  it('close with the security group and with the cloud', async () => {
    const { address, cloud, user, read } = await cloudWithServer(8445);
    const rules = read<{ id: string; security_group_id: string; direction: string; protocol: string | null }[]>(
      await user.request('GET', '/network/v2.0/security-group-rules'),
      'security_group_rules',
    );
    const rule = rules.find(({ direction, protocol }) => direction === 'ingress' && protocol === 'tcp')!;
    await user.request('DELETE', `/network/v2.0/security-group-rules/${rule.id}`);
    await cloud.machines!.socketsSettled();
    expect(await hear(address, 8445)).toBe('ECONNREFUSED');
    await user.request('POST', '/network/v2.0/security-group-rules', {
      security_group_rule: { security_group_id: rule.security_group_id, direction: 'ingress', protocol: 'tcp' },
    });
    await cloud.machines!.socketsSettled();
    expect(await hear(address, 8445)).toBe('s');
    await cloud.close();
    expect(await hear(address, 8445)).toBe('ECONNREFUSED');
  });

  it('leave an address alone that another program listens on until it is free', async () => {
    const taken = createServer((socket) => socket.end('mine'));
    // The floating IP is unknown in advance (the first address goes to the router), so the port is taken on all
    // addresses.
    await new Promise<void>((resolve) => taken.listen({ host: '0.0.0.0', port: 0, exclusive: true }, resolve));
    const { port } = taken.address() as { port: number };
    const { address, cloud, clock, console, id } = await cloudWithServer(port);
    await clock.advance(10_000);
    await cloud.machines!.socketsSettled();
    expect(await hear(address, port)).toBe('mine');
    const complaint = `${address}:${port} cannot be reached from outside of the cloud: another program of this computer listens there`;
    const complaints = (text: string): number => text.split(complaint).length - 1;
    expect(complaints(await console(id))).toBe(1);
    const warned = { address, port, code: 'EADDRINUSE' };
    expect(entries.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: warned }]);
    await new Promise((resolve) => taken.close(resolve));
    await clock.advance(5_000);
    await cloud.machines!.socketsSettled();
    expect(await hear(address, port)).toBe('s');
    expect(await console(id)).toContain(`${address}:${port} can be reached from outside of the cloud again`);
    expect(entries.filter(({ level, fields }) => level === 'info' && 'port' in fields)).toMatchObject([
      { fields: { address, port } },
    ]);
  });

  it('work a thousand at a time without errors', async () => {
    const { address, machine, id, cloud } = await cloudWithServer(8446);
    const first = 20_000;
    const stops = Array.from({ length: 1000 }, (_, i) =>
      machine(id).listen(first + i, { accept: (socket) => void socket.end(`p${i}`) }),
    );
    await cloud.machines!.socketsSettled();
    expect([await hear(address, first), await hear(address, first + 999)]).toEqual(['p0', 'p999']);
    for (const stop of stops) stop();
    await cloud.machines!.socketsSettled();
    expect(await hear(address, first)).toBe('ECONNREFUSED');
  });
});
