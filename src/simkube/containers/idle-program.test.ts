import { once } from 'node:events';
import { expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import { duplexPair } from '../cluster/duplex-pair.ts';
import type { SimulatedProcess } from '../process.ts';
import type { PortService } from '../types.ts';
import { idleProgram } from './idle-program.ts';

it('closes all connections when the idle program ends', async () => {
  const stop = new AbortController();
  const services: PortService[] = [];
  const process = {
    argv: ['nginx'],
    env: {},
    image: 'nginx:1.27',
    hostname: 'web-0',
    namespace: 'default',
    address: '10.0.0.1',
    clock: new ManualClock(),
    random: seededRandom(1),
    signal: stop.signal,
    log: () => {},
    listen(_port: number, service: PortService) {
      services.push(service);
      return () => {};
    },
  } as Partial<SimulatedProcess> as SimulatedProcess;
  const ended = idleProgram([80])(process);
  const [near, far] = duplexPair();
  services[0]!.accept(far);
  near.write('GET / HTTP/1.1\r\nHost: web\r\n\r\n');
  const [answer] = (await once(near, 'data')) as [Buffer];
  expect(answer.toString()).toContain('200 OK');
  near.resume();
  const closed = once(near, 'close');
  stop.abort();
  expect(await ended).toBe(0);
  await closed;
});
