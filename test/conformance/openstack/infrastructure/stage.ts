import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, loadClouds } from '../../../../src/openstack/index.ts';
import { createTenant } from '../../../contract/support/tenant.ts';
import { OpenStackShell } from '../../../e2e/openstack-command/openstack-shell.ts';
import { startCapstan } from '../../../support/capstan.ts';
import { eventually } from '../../../support/eventually.ts';
import { kubectl, missingKubectl } from '../../../support/kubectl.ts';
import { describeOutcome, isInstalled } from '../../../support/process.ts';

/** Names the clouds.yaml of the real cloud. Its entry `admin` creates the project of the tests. */
export const cloudsYamlVariable = 'CAPSTAN_REAL_CLOUDS_YAML';

/** Prefers Debian's command, which another Python on the PATH may hide. */
const openstackCommands = ['/usr/bin/openstack', 'openstack'];

async function findOpenStackCommand(): Promise<string | undefined> {
  for (const candidate of openstackCommands) if (await isInstalled(candidate, '--version')) return candidate;
  return undefined;
}

/** Returns why the tests on a real cloud cannot run here, or undefined if they can. */
export async function missingForRealCloud(): Promise<string | undefined> {
  if (!process.env[cloudsYamlVariable]) return `needs a real OpenStack: ${cloudsYamlVariable} is not set`;
  const noKubectl = await missingKubectl();
  if (noKubectl !== undefined) return noKubectl;
  return (await findOpenStackCommand()) === undefined ? 'needs python3-openstackclient' : undefined;
}

/** The used parts of objects. Which are present depends on the kind. */
export interface Thing {
  kind: string;
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: contents differ by kind; what is absent fails the expectation
  spec: any;
  // biome-ignore lint/suspicious/noExplicitAny: contents differ by kind; what is absent fails the expectation
  status: any;
}

/** A management API with a real cloud, used through kubectl and the openstack command. */
export interface Stage {
  /** unique namespace, from which names of cloud resources derive */
  readonly namespace: string;
  readonly openstack: OpenStackShell;
  /** must succeed; returns the output */
  kubectl(...args: string[]): Promise<string>;
  apply(documents: readonly object[]): Promise<void>;
  get(kind: string, name: string): Promise<Thing>;
  list(kind: string, selector?: string): Promise<Thing[]>;
  /** restarts the management API on its data */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Name of the Secret with the project's clouds.yaml. */
export const identityName = 'real-cloud';

/** Name of the entry in clouds.yaml. */
export const cloudName = 'openstack';

export async function openStage(): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  /** Runs all cleanups, the newest first, and reports the first failure. */
  const close = async (): Promise<void> => {
    const results: PromiseSettledResult<unknown>[] = [];
    for (const action of undo.splice(0).reverse()) results.push(...(await Promise.allSettled([action()])));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
  try {
    return await build(undo, close);
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function build(undo: (() => Promise<unknown>)[], close: () => Promise<void>): Promise<Stage> {
  const scratch = await mkdtemp(join(tmpdir(), 'capstan-real-cloud-'));
  undo.push(() => rm(scratch, { recursive: true, force: true }));
  const { name: namespace, cloudsYaml } = await openProject(process.env[cloudsYamlVariable] ?? '', undo);
  const cloudsFile = join(scratch, 'clouds.yaml');
  await writeFile(cloudsFile, cloudsYaml, { mode: 0o600 });
  const openstack = new OpenStackShell((await findOpenStackCommand()) ?? 'openstack', {
    cwd: scratch,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: scratch,
      OS_CLIENT_CONFIG_FILE: cloudsFile,
      OS_CLOUD: cloudName,
      // oldest microversion with server tags
      OS_COMPUTE_API_VERSION: '2.26',
    },
  });
  undo.push(() => openstack.close());
  let capstan = await startCapstan({ controllers: 'all' });
  undo.push(() => capstan.stop());
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const outcome = await kubectl(args, {
      kubeconfig: capstan.kubeconfig,
      directory: scratch,
      namespace,
      ...(input !== undefined && { input }),
    });
    if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
    return outcome.stdout;
  };
  const stage: Stage = {
    namespace,
    openstack,
    kubectl: (...args) => run(args),
    apply: async (documents) => {
      await run(['apply', '-f', '-'], documents.map((document) => JSON.stringify(document)).join('\n'));
    },
    get: async (kind, name) => JSON.parse(await run(['get', kind, name, '-o', 'json'])) as Thing,
    list: async (kind, selector) => {
      const text = await run(['get', kind, '-o', 'json', ...(selector === undefined ? [] : ['-l', selector])]);
      return (JSON.parse(text) as { items: Thing[] }).items;
    },
    restart: async () => {
      capstan = await capstan.restart();
    },
    close,
  };
  await stage.kubectl('create', 'namespace', namespace);
  await stage.apply([secret(identityName, { 'clouds.yaml': cloudsYaml })]);
  return stage;
}

/** Creates a project for the tests with the entry `admin`, so that leaks are visible. */
async function openProject(
  adminFile: string,
  undo: (() => Promise<unknown>)[],
): Promise<{ name: string; cloudsYaml: string }> {
  const clouds = await loadClouds({
    env: { OS_CLIENT_CONFIG_FILE: adminFile },
    cwd: process.cwd(),
    home: homedir(),
  });
  const admin = connect(await clouds.cloud('admin'));
  undo.push(() => admin.close());
  const tenant = await createTenant(admin, 'real');
  undo.push(async () => {
    await tenant.remove();
    await tenant.cloud.close();
  });
  const { credential, authUrl, region } = tenant.config;
  if (credential.method !== 'password') throw new Error('the project has no user with a password');
  const entry = {
    auth: {
      auth_url: authUrl,
      user_id: tenant.userId,
      password: credential.password,
      project_id: tenant.projectId,
    },
    ...(region !== undefined && { region_name: region }),
    interface: 'public',
    identity_api_version: 3,
  };
  return { name: tenant.projectName, cloudsYaml: JSON.stringify({ clouds: { [cloudName]: entry } }) };
}

export function secret(name: string, stringData: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
}

/** Waits until a cluster has this number of running servers. Returns their OpenStackServers by name. */
export async function activeServers(
  stage: Stage,
  selector: string,
  count: number,
  timeoutMs = 180_000,
): Promise<Thing[]> {
  let found: Thing[] = [];
  await eventually(async () => {
    found = await stage.list('openstackservers', selector);
    const active = found.filter(({ status }) => status?.ready === true && status.instanceState === 'ACTIVE');
    if (found.length !== count || active.length !== count) {
      throw new Error(`expected ${count} servers that run, found:\n${found.map(describeServer).join('\n')}`);
    }
  }, timeoutMs);
  return found;
}

function describeServer({ metadata, status }: Thing): string {
  const { message } = conditionOf(status, 'InstanceReady') ?? {};
  return `${metadata.name}: ${status?.instanceState ?? 'no server'}${message ? ` (${message})` : ''}`;
}

/** Waits until every object of a kind is Ready. */
export async function allReady(stage: Stage, kind: string, selector: string, timeoutMs = 60_000): Promise<void> {
  await eventually(async () => {
    const unready = (await stage.list(kind, selector)).flatMap(({ metadata, status }) => {
      const ready = conditionOf(status, 'Ready');
      return ready?.status === 'True' ? [] : [`${metadata.name}: ${ready?.reason ?? 'says nothing'} ${ready?.message}`];
    });
    if (unready.length > 0) throw new Error(`expected all ${kind} to be Ready:\n${unready.join('\n')}`);
  }, timeoutMs);
}

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

export function conditionOf(status: unknown, type: string): Condition | undefined {
  const { conditions } = (status ?? {}) as { conditions?: Condition[] };
  return conditions?.find((condition) => condition.type === type);
}

/** Prints progress to the terminal, next to the names of the tests. */
export function tell(text: string): void {
  process.stderr.write(`  ${text}\n`);
}
