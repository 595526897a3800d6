import { readFileSync } from 'node:fs';
import type { CapstanProcess } from './capstan.ts';
import { type Connection, type Endpoint, endpointOf, type Protocol } from './connection.ts';
import { openHttp1 } from './http1.ts';
import { openHttp2 } from './http2.ts';
import { widgetDefinition } from './objects.ts';

/** An API server to measure. */
export interface Target {
  name: string;
  endpoint: Endpoint;
  /** the server, if the benchmark started it */
  capstan: CapstanProcess | undefined;
  /** processes of the server, if known and on this machine */
  processIds: readonly number[];
  /** namespace of this run's objects */
  namespace: string;
  /** namespace with only the objects to list */
  listNamespace: string;
}

export async function openTarget(
  name: string,
  kubeconfig: string,
  known: { capstan?: CapstanProcess; processIds?: readonly number[] },
): Promise<Target> {
  const endpoint = await endpointOf(kubeconfig);
  const namespace = `bench-${Date.now().toString(36)}`;
  const target: Target = {
    name,
    endpoint,
    capstan: known.capstan,
    processIds: known.processIds ?? [],
    namespace,
    listNamespace: `${namespace}-list`,
  };
  const connection = await openHttp1(endpoint);
  for (const each of [target.namespace, target.listNamespace]) {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: each } };
    await must(connection, 'POST', '/api/v1/namespaces', object);
  }
  await must(connection, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetDefinition, [409]);
  await eventually(async () => {
    const { status } = await connection.send(
      'GET',
      `/apis/bench.capstan.dev/v1/namespaces/${target.namespace}/widgets`,
    );
    return status === 200;
  });
  connection.close();
  return target;
}

/** Restores a server the benchmark did not start. Its own controllers remove the contents of the namespaces. */
export async function closeTarget(target: Target): Promise<void> {
  if (target.capstan) return target.capstan.stop();
  const connection = await openHttp1(target.endpoint);
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.bench.capstan.dev';
  const namespaces = [target.namespace, target.listNamespace].map((name) => `/api/v1/namespaces/${name}`);
  for (const path of [definition, ...namespaces]) await must(connection, 'DELETE', path, undefined, [404]);
  connection.close();
}

export function openConnection(target: Target, protocol: Protocol): Promise<Connection> {
  return protocol === 'h1' ? openHttp1(target.endpoint) : openHttp2(target.endpoint);
}

/** Returns the server's CPU time so far in seconds, or undefined if unknown. */
export async function cpuSeconds(target: Target): Promise<number | undefined> {
  if (target.capstan) return (await target.capstan.report()).cpuSeconds;
  if (target.processIds.length > 0) return target.processIds.map(processCpuSeconds).reduce((sum, each) => sum + each);
  const connection = await openHttp1(target.endpoint);
  const { body } = await connection.send('GET', '/metrics');
  connection.close();
  const found = /^process_cpu_seconds_total (\S+)$/m.exec(body.toString());
  return found ? Number(found[1]) : undefined;
}

/** Returns the CPU time of a process so far. The kernel counts in hundredths of a second. */
export function processCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function must(
  connection: Connection,
  method: string,
  path: string,
  body: object | undefined,
  also: readonly number[] = [],
): Promise<void> {
  const answer = await connection.send(method, path, body && Buffer.from(JSON.stringify(body)));
  if (answer.status >= 300 && !also.includes(answer.status)) {
    throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`);
  }
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the server did not begin to serve the custom kind');
}
