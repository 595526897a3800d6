import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubectlOptions, kubectl, startKubectl } from './kubectl.ts';
import { type Outcome, type RunningProcess, unexpectedOutcome } from './process.ts';
import type { Target } from './targets.ts';
import { type Word, words } from './words.ts';

type CommandLine<T> = (literals: TemplateStringsArray, ...values: readonly Word[]) => T;

/** kubectl for a target, a user and a namespace. Command lines are template literals. */
export interface Kubectl {
  /** output of a command that must succeed */
  ok: CommandLine<Promise<string>>;
  /** error output of a command that must fail with exit code 1 */
  fails: CommandLine<Promise<string>>;
  /** result of a command that may fail */
  run: CommandLine<Promise<Outcome>>;
  /** starts a long-running command, which ends with the sandbox at the latest */
  start: CommandLine<RunningProcess>;
}

/** A namespace of a target, a temporary directory, and kubectl configured for both. */
export interface Sandbox extends Kubectl {
  readonly target: Target;
  readonly namespace: string;
  /** unique suffix for names of cluster-scoped objects and API groups */
  readonly id: string;
  /** the same with these objects or this text on standard input, for `-f -` */
  with(input: string | object | readonly object[]): Kubectl;
  /** the same without `--namespace`: the manifests contain it */
  readonly anywhere: Kubectl;
  /** the same with environment variables */
  under(env: Readonly<Record<string, string>>): Kubectl;
  /** the same as the user of a bearer token, without the administrator's certificate */
  withToken(token: string): Promise<Kubectl>;
  /** the same as the user of a certificate; both PEM */
  withCertificate(certificate: string, privateKey: string): Promise<Kubectl>;
  /** parsed output of `kubectl get … -o json` */
  json: CommandLine<Promise<KubernetesObject>>;
  /** writes a file into the temporary directory and returns its path */
  file(name: string, content: string | Uint8Array, mode?: number): Promise<string>;
  /** runs at the end, newest first; for objects outside of the namespace */
  cleanUp(action: () => Promise<unknown>): void;
  close(): Promise<void>;
}

/** The fields of an object used by tests. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: { uid: string; name: string }[];
    managedFields?: { manager: string; operation: string; subresource?: string }[];
  };
  // Tests know the shape of what they created; reading a field that is absent is a failing assertion.
  // biome-ignore lint/suspicious/noExplicitAny: contents differ by kind
  [field: string]: any;
}

/** Opens a sandbox with a new namespace. */
export async function openSandbox(target: Target): Promise<Sandbox> {
  const id = randomUUID().slice(0, 8);
  const namespace = `e2e-${id}`;
  const directory = await mkdtemp(join(tmpdir(), 'capstan-kubectl-'));
  const base: KubectlOptions = { kubeconfig: target.kubeconfig, directory, namespace };
  const running: RunningProcess[] = [];
  const cleanups: (() => Promise<unknown>)[] = [];

  const bind = (options: KubectlOptions): Kubectl => {
    const run: Kubectl['run'] = (literals, ...values) => kubectl(words(literals, ...values), options);
    return {
      run,
      ok: async (literals, ...values) => {
        const outcome = await run(literals, ...values);
        if (outcome.code !== 0) throw unexpectedOutcome('success', outcome);
        return outcome.stdout;
      },
      fails: async (literals, ...values) => {
        const outcome = await run(literals, ...values);
        if (outcome.code !== 1) throw unexpectedOutcome('exit code 1', outcome);
        return outcome.stderr;
      },
      start: (literals, ...values) => {
        const process = startKubectl(words(literals, ...values), options);
        running.push(process);
        return process;
      },
    };
  };

  const admin = bind(base);
  const withCredentials = async (user: object): Promise<Kubectl> => {
    const config = JSON.parse(await admin.ok`config view --raw --minify -o json`) as { users: { user: object }[] };
    config.users[0]!.user = user;
    const kubeconfig = join(directory, `${randomUUID()}.kubeconfig`);
    await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    return bind({ ...base, kubeconfig });
  };
  await admin.ok`create namespace ${namespace}`;
  return {
    ...admin,
    target,
    namespace,
    id,
    with: (input) => bind({ ...base, input: asInput(input) }),
    anywhere: bind({ kubeconfig: target.kubeconfig, directory }),
    under: (env) => bind({ ...base, env }),
    withToken: (token) => withCredentials({ token }),
    withCertificate: (certificate, privateKey) =>
      withCredentials({
        'client-certificate-data': Buffer.from(certificate).toString('base64'),
        'client-key-data': Buffer.from(privateKey).toString('base64'),
      }),
    json: async (literals, ...values) => {
      const outcome = await kubectl(['get', ...words(literals, ...values), '-o', 'json'], base);
      if (outcome.code !== 0) throw unexpectedOutcome('success', outcome);
      return JSON.parse(outcome.stdout) as KubernetesObject;
    },
    file: async (name, content, mode = 0o600) => {
      const path = join(directory, name);
      await writeFile(path, content, { mode });
      return path;
    },
    cleanUp: (action) => void cleanups.push(action),
    close: async () => {
      for (const process of running) await process.stop('SIGKILL');
      for (const action of cleanups.reverse()) await action();
      await admin.run`delete namespace ${namespace} --wait=false --ignore-not-found`;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** kubectl reads concatenated JSON documents. */
function asInput(input: string | object | readonly object[]): string {
  if (typeof input === 'string') return input;
  return (Array.isArray(input) ? input : [input]).map((document) => JSON.stringify(document)).join('\n');
}
