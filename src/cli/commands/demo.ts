import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateways, Secrets } from '../../api/index.ts';
import { CapstanError, ignoreNotFound, sleep } from '../../machinery/index.ts';
import { type Connection, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { parseTimeout, withDeadline } from '../deadline.ts';
import { type DemoFlavor, demoExamples, exampleDirectory } from '../demo/examples.ts';
import { isComplete, type Stage, stagesOf } from '../demo/progress.ts';
import { type ProgressScreen, progressScreen } from '../demo/screen.ts';
import { whatNext } from '../demo/what-next.ts';
import { throughGateway } from '../demo/workload-kubeconfig.ts';
import type { ClusterObjects } from '../describe/cluster-objects.ts';
import { clusterTree } from '../describe/cluster-tree.ts';
import { followCluster } from '../describe/follow-cluster.ts';
import { renderTree } from '../describe/layout.ts';
import { asInvoked } from '../invocation.ts';
import { applyDocuments } from '../manifests/apply-documents.ts';
import { readManifests } from '../manifests/read-manifests.ts';
import { startInstallation, unlessStopped } from './up.ts';

export interface DemoOptions {
  flavor: DemoFlavor;
  exit?: boolean;
  timeout: string;
}

const namespace = 'default';
const definitionTimeoutMs = 60_000;

/** Runs a complete temporary installation with a hosted cluster. */
export async function demo(options: DemoOptions, context: CommandContext): Promise<number> {
  const timeoutMs = parseTimeout(options.timeout);
  const directory = await mkdtemp(join(tmpdir(), 'capstan-demo-'));
  const screen = progressScreen(context);
  try {
    return await play(options, context, { directory, screen, timeoutMs });
  } finally {
    screen.close();
    await rm(directory, { recursive: true, force: true });
  }
}

interface DemoSetting {
  readonly directory: string;
  readonly screen: ProgressScreen;
  readonly timeoutMs: number;
}

async function play(
  options: DemoOptions,
  context: CommandContext,
  { directory, screen, timeoutMs }: DemoSetting,
): Promise<number> {
  const { stdout } = context;
  const { directory: example, cluster } = demoExamples[options.flavor];
  const manifests = exampleDirectory(example);
  const starting = startInstallation(
    {
      dataDir: join(directory, 'data'),
      listen: '127.0.0.1:0',
      kubeconfig: join(directory, 'kubeconfig'),
      // The key is stored beside the data it seals, because both are deleted at the end.
      encryptionKeyFile: join(directory, 'encryption-key'),
      simulatedCloud: true,
      cloudListen: '127.0.0.1:0',
      bootstrapListen: '127.0.0.1:0',
      agentListen: '127.0.0.1:0',
      pods: 'simulated',
      controllers: 'all',
    },
    context,
  );
  const running = await unlessStopped(starting, context);
  if (!running) return 0;
  try {
    screen.say('management API', running.api.url);
    if (running.cloud) screen.say('simulated OpenStack', running.cloud.url);
    const connect = { kubeconfig: running.kubeconfig, namespace };
    const outcome = withConnection(connect, context, async (connection): Promise<boolean> => {
      const objects = await applyExample(connection, manifests, context);
      screen.say(`applied examples/${example}`, `${objects} objects`);
      const found = await untilReady(connection, cluster, context, screen, timeoutMs);
      if (!found) return false;
      const workloadKubeconfig = await writeWorkloadKubeconfig(connection, cluster, directory, context);
      stdout(
        `\n${renderTree(clusterTree(found, treeOptions), 'readiness', { nowMs: context.clock.now(), colour: context.colour })}\n`,
      );
      if (!options.exit) {
        stdout(
          asInvoked(
            whatNext({
              cluster,
              kubeconfig: running.kubeconfig,
              workloadKubeconfig,
              cloudsYaml: running.cloud?.cloudsYaml,
            }),
            context.env,
          ),
        );
      }
      return true;
    });
    const isReady = await Promise.race([outcome, running.failed.then(() => false)]);
    if (isReady && !options.exit) await Promise.race([context.stopped, running.failed]);
    return isReady || context.signal.aborted ? 0 : 1;
  } finally {
    await running.stop();
  }
}

const treeOptions = {
  legacyConditions: false,
  grouping: true,
  echo: false,
  showMachineSets: false,
  showTemplates: false,
  showResourceSets: false,
  showConditions: [],
} as const;

/** Applies all documents; resolves with their number. */
async function applyExample(connection: Connection, directory: string, context: CommandContext): Promise<number> {
  const { clock, signal } = context;
  const { documents, problems } = await readManifests([directory], { recursive: false, readInput: context.readInput });
  const failures = await applyDocuments(documents, connection, {
    dryRun: false,
    forceConflicts: false,
    definitionTimeoutMs,
    signal,
    now: () => clock.now(),
    sleep: (ms) => sleep(clock, ms, signal),
    onApplied: () => {},
  });
  const problem = problems[0]?.message ?? failures[0]?.message;
  if (problem !== undefined) throw new CapstanError('CAP_DEMO', `the example could not be applied: ${problem}`);
  return documents.length;
}

/** Waits until the nodes of the cluster are Ready; returns undefined if the user stops it. Throws on timeout. */
async function untilReady(
  connection: Connection,
  cluster: string,
  { clock, signal }: CommandContext,
  screen: ProgressScreen,
  timeoutMs: number,
): Promise<ClusterObjects | undefined> {
  const enough = new AbortController();
  const deadline = withDeadline(clock, timeoutMs, AbortSignal.any([signal, enough.signal]));
  let last: readonly Stage[] = [];
  let complete: ClusterObjects | undefined;
  try {
    await followCluster(connection, cluster, {
      clock,
      signal: deadline.signal,
      onChange(found) {
        last = stagesOf(found);
        screen.show(last);
        if (!isComplete(last)) return;
        complete = found;
        enough.abort();
      },
    });
  } finally {
    deadline.cancel();
  }
  if (complete || signal.aborted) return complete;
  const missing = last.find(({ done }) => !done);
  throw new CapstanError(
    'CAP_DEMO',
    `the cluster is not ready in time: ${missing === undefined ? 'it was never seen' : `${missing.title}: ${missing.detail}`}`,
    { hint: 'use a longer --timeout; `capstan up --simulated-cloud` and `capstan apply` show every step' },
  );
}

/** Writes the administrator's kubeconfig of the cluster beside that of the management API. */
async function writeWorkloadKubeconfig(
  { client }: Connection,
  cluster: string,
  directory: string,
  { signal }: CommandContext,
): Promise<string> {
  const path = join(directory, `${cluster}.kubeconfig`);
  const key = { namespace, name: `${cluster}-kubeconfig` };
  const secret = await client.get(Secrets, key, { signal }).catch(ignoreNotFound);
  const text = Buffer.from(secret?.data?.['value'] ?? '', 'base64').toString('utf8');
  const { items } = await client.list(Gateways, { namespace, signal });
  const address = items[0]?.status?.addresses?.[0]?.value;
  await writeFile(path, address === undefined ? text : throughGateway(text, address), { mode: 0o600 });
  return path;
}
