import { resolve } from 'node:path';
import { CapstanError, systemClock, systemRandom } from '../../machinery/index.ts';
import { overNetwork } from '../../simkube/index.ts';
import type { CommandContext } from '../context.ts';
import { defaultDataDirectory, parseListenAddress } from '../management-api.ts';
import { startSimulatedCloud } from '../simulated-cloud.ts';

export interface CloudOptions {
  dataDir?: string;
  listen: string;
  https?: boolean;
  inMemory?: boolean;
  timeScale?: string;
  without?: string[];
  faults?: string;
  reachable?: string[];
}

/** Runs only the simulated OpenStack in the foreground until a signal arrives. */
export async function cloud(options: CloudOptions, context: CommandContext): Promise<number> {
  const { env, log, stdout } = context;
  const dataDirectory = resolve(options.dataDir ?? defaultDataDirectory(env));
  const running = await startSimulatedCloud({
    dataDirectory,
    listen: parseListenAddress(options.listen),
    log,
    reachable: reachableOf(options.reachable ?? []),
    outside: overNetwork({ clock: systemClock, random: systemRandom }),
    ...(options.https && { https: true }),
    ...(options.inMemory && { inMemory: true }),
    ...(options.timeScale !== undefined && { timeScale: parseScale(options.timeScale) }),
    ...(options.without && { without: parseServices(options.without) }),
    ...(options.faults !== undefined && { faultsFile: options.faults }),
  });
  try {
    for (const line of running.lines) stdout(`${line}\n`);
    stdout('ready\n');
    await context.stopped;
    log.info('Stopping');
  } finally {
    await running.stop();
  }
  return 0;
}

function reachableOf(texts: readonly string[]): (host: string, port: number) => boolean {
  const known = new Set(
    texts.map((text) => {
      const { host, port } = parseListenAddress(text, '--reachable');
      return `${host}:${port}`;
    }),
  );
  return (host, port) => known.has(`${host}:${port}`);
}

function parseScale(text: string): number {
  const scale = Number(text);
  if (text.trim() === '' || !(scale >= 0)) {
    throw new CapstanError('CAP_USAGE', `--time-scale: "${text}" is not a number`, {
      hint: '1 is the pace of a usual cloud, 0.1 is ten times as fast, 0 does not wait',
    });
  }
  return scale;
}

const optionalServices = ['load-balancer', 'volumev3', 'placement'];

function parseServices(services: readonly string[]): readonly string[] {
  for (const service of services) {
    if (!optionalServices.includes(service)) {
      throw new CapstanError('CAP_USAGE', `--without: "${service}" cannot be left out`, {
        hint: `possible values: ${optionalServices.join(', ')}`,
      });
    }
  }
  return services;
}
