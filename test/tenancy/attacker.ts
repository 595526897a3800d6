// A process that attacks a server as a tenant, from a seed and for a limited time. It is separate from the process that
// measures the effect, because making the attacks takes as much time as answering them. Prints the attacks as JSON.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { dice, seedAt } from '../support/rough/dice.ts';
import { openTls } from '../support/rough/raw.ts';
import { type Endpoint, http1Client, http2Client, type WireClient } from '../support/rough/wire.ts';
import { attacks } from './attacks.ts';

/** Input of the process on standard input. */
export interface AttackOrder {
  readonly tenant: Endpoint;
  readonly namespace: string;
  readonly seed: number;
  readonly seconds: number;
}

const attackers = 8;
const unfinishedBodies = 200;
/** Missing answers are not awaited longer. */
const patienceMs = 10_000;

async function main(): Promise<void> {
  const { tenant, namespace, seed, seconds } = await readOrder();
  const endless = await startEndlessServer();
  const endlessUrl = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/v3`;
  const end = performance.now() + seconds * 1_000;
  const sent: Record<string, number> = {};
  const sockets: TLSSocket[] = [];
  const names = Object.keys(attacks);
  const attack = async (index: number): Promise<void> => {
    const client: WireClient = index % 2 === 0 ? http1Client(tenant) : http2Client(tenant);
    for (let round = 0; performance.now() < end; round++) {
      const position = round * attackers + index;
      // Every attack occurs once before any is repeated.
      const name = names[position % names.length]!;
      sent[name] = (sent[name] ?? 0) + 1;
      for (const request of attacks[name]!(dice(seedAt(seed, position)), { namespace, endlessUrl })) {
        if (performance.now() >= end) break;
        // Refusals, resets and limits are expected.
        await Promise.race([client.send(request).catch(() => undefined), delay(patienceMs)]);
      }
    }
    client.close();
  };
  const holdBodies = async (): Promise<void> => {
    while (sockets.length < unfinishedBodies && performance.now() < end) {
      sockets.push(await unfinishedBody(tenant, namespace));
    }
  };
  await Promise.all([
    holdBodies().catch(() => undefined),
    ...Array.from({ length: attackers }, (_, index) => attack(index)),
  ]);
  process.stdout.write(`${JSON.stringify(sent)}\n`);
  process.exit(0);
}

async function readOrder(): Promise<AttackOrder> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return JSON.parse(text) as AttackOrder;
}

/** Starts a server whose answers never end. */
async function startEndlessServer(): Promise<Server> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"version": "');
    const piece = 'x'.repeat(65_536);
    const pour = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', pour);
    pour();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Holds the resources that a request gets before its body arrives. */
async function unfinishedBody(tenant: Endpoint, namespace: string): Promise<TLSSocket> {
  const socket = await openTls(tenant);
  const head = [
    `POST /api/v1/namespaces/${namespace}/configmaps HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    'content-length: 100000',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{"apiVersion"`);
  return socket;
}

await main();
