import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LatticeCluster, LatticeClusters } from '../../api/index.ts';
import { loopbackUser } from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import { CapstanError, ignoreNotFound, sleep } from '../../machinery/index.ts';
import { startInstallation, unlessStopped } from '../commands/up.ts';
import type { CommandContext } from '../context.ts';
import { withDeadline } from '../deadline.ts';
import { defaultDataDirectory } from '../management-api.ts';

export interface BootstrapOptions {
  readonly name: string;
  readonly timeoutMs: number;
}

const pollMs = 500;
const addressFile = 'address';

const directoryOf = (name: string, env: CommandContext['env']): string =>
  join(defaultDataDirectory(env), 'lattice', name);

/** The name becomes part of a path. */
const isName = (name: string): boolean => /^[a-z0-9][a-z0-9.-]*$/.test(name);

/** Tells whether an install or uninstall was started on this host and has not finished. */
export async function isUnderWay(name: string, env: CommandContext['env']): Promise<boolean> {
  if (!isName(name)) return false;
  return await access(join(directoryOf(name, env), 'data')).then(
    () => true,
    () => false,
  );
}

/** Records the address of a cluster that is about to be uninstalled, because later its API is gone. */
export async function noteAddress(name: string, server: string, env: CommandContext['env']): Promise<void> {
  if (!isName(name)) return;
  await mkdir(directoryOf(name, env), { recursive: true, mode: 0o700 });
  await writeFile(join(directoryOf(name, env), addressFile), server);
}

/** Returns the cluster at this address whose uninstall was started on this host and has not finished. */
export async function underWayAt(server: string, env: CommandContext['env']): Promise<string | undefined> {
  for (const name of await readdir(directoryOf('', env)).catch(() => [])) {
    const address = await readFile(join(directoryOf(name, env), addressFile), 'utf8').catch(() => undefined);
    if (address === server && (await isUnderWay(name, env))) return name;
  }
  return undefined;
}

/**
 * Runs the management API and its controllers for the duration of the work. Their data is in a directory that is
 * deleted at the end; until then, the same command continues where it stopped. The exit code is 1 if it was stopped
 * before the end, so that scripts do not go on.
 */
export async function withBootstrap(
  { name, timeoutMs }: BootstrapOptions,
  context: CommandContext,
  work: (client: Client, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  if (!isName(name)) throw new CapstanError('CAP_USAGE', `"${name}" is not a valid name of a LatticeCluster`);
  const directory = directoryOf(name, context.env);
  const starting = startInstallation(
    {
      dataDir: join(directory, 'data'),
      listen: '127.0.0.1:0',
      kubeconfig: join(directory, 'kubeconfig'),
      // The key is stored beside the data it seals, because both are deleted at the end.
      encryptionKeyFile: join(directory, 'encryption-key'),
      cloudListen: '127.0.0.1:0',
      // This parent is temporary, so clusters must not dial it.
      bootstrapListen: '0',
      agentListen: '0',
      pods: 'none',
      controllers: 'all',
    },
    context,
  );
  const running = await unlessStopped(starting, context);
  if (!running) return 1;
  const deadline = withDeadline(context.clock, timeoutMs, context.signal);
  try {
    const client = running.api.server.localClient(loopbackUser);
    const failing = running.failed.then(() => {});
    await Promise.race([work(client, deadline.signal), failing]);
  } catch (error) {
    const hint = `the state is kept: run the same command again to continue from ${directory}`;
    if (deadline.timedOut())
      throw new CapstanError('CAP_LATTICE', `LatticeCluster ${name}: not finished in time`, { hint });
    if (context.signal.aborted) {
      context.stderr(`${hint}\n`);
      return 1;
    }
    throw error;
  } finally {
    deadline.cancel();
    await running.stop();
  }
  await rm(directory, { recursive: true, force: true });
  return 0;
}

/** Waits until a LatticeCluster is ready and prints its progress. */
export async function follow(
  client: Client,
  name: string,
  { clock, stderr }: CommandContext,
  options: { signal: AbortSignal; isDone(cluster: LatticeCluster | undefined): boolean },
): Promise<void> {
  const { signal, isDone } = options;
  let said = '';
  for (;;) {
    signal.throwIfAborted();
    const cluster = await client.get(LatticeClusters, { name }, { signal }).catch(ignoreNotFound);
    const { phase = 'Pending', message = '' } = cluster?.status ?? {};
    const selfManaged = cluster?.status?.conditions?.find(({ type }) => type === 'SelfManaged')?.message ?? '';
    const line = cluster ? `${phase}: ${message || selfManaged}`.replace(/: $/, '') : '';
    if (line !== said && line !== '') stderr(`${line}\n`);
    said = line;
    if (isDone(cluster)) return;
    await sleep(clock, pollMs, signal);
  }
}
