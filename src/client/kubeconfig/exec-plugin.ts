import { spawn } from 'node:child_process';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { type Clock, errorMessage, isJsonObject, type JsonObject, must } from '../../machinery/index.ts';
import { errnoOf, kubeconfigError } from './errors.ts';
import type { Environment } from './read.ts';
import type { Credential, CredentialSource, KubeconfigExec } from './types.ts';

const supportedVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

export interface ExecPluginOptions {
  exec: KubeconfigExec;
  /** user name for errors */
  user: string;
  /** kubeconfig of the entry; a command with a path is relative to it */
  file: string;
  /** `spec.cluster` of the request, for plugins that require it */
  cluster: JsonObject;
  env: Environment;
  clock: Clock;
  /** whether a user can answer questions at the terminal */
  interactive?: boolean;
}

/** Runs a credential plugin and caches its credentials until they expire or the server refuses them. */
export function execCredentials(options: ExecPluginOptions): CredentialSource {
  const { clock } = options;
  let cached: { credential: Credential; expiresAt: number } | undefined;
  let running: Promise<Credential> | undefined;

  const run = async (): Promise<Credential> => {
    const status = await runPlugin(options);
    cached = status;
    return status.credential;
  };

  return {
    get() {
      if (cached && clock.now() < cached.expiresAt) return Promise.resolve(cached.credential);
      // Concurrent requests share one plugin run, because plugins may open a browser.
      running ??= run().finally(() => {
        running = undefined;
      });
      return running;
    },
    refresh() {
      cached = undefined;
      return true;
    },
  };
}

function checkEntry({ exec, user, file, interactive }: ExecPluginOptions): { command: string; apiVersion: string } {
  const wrong = (what: string, hint: string): Error =>
    kubeconfigError('CAP_KUBECONFIG_EXEC', `user "${user}" in ${file}: ${what}`, hint);
  const { command, apiVersion } = exec;
  if (command === undefined || command === '') throw wrong('exec has no command', 'name the program in exec.command');
  if (apiVersion === undefined || !supportedVersions.some((version) => version === apiVersion)) {
    throw wrong(
      `exec.apiVersion is ${JSON.stringify(apiVersion ?? '')}`,
      `use one of ${supportedVersions.join(', ')} (newer releases of the plugin support them)`,
    );
  }
  if (exec.interactiveMode === 'Always' && interactive !== true) {
    throw wrong(
      `the plugin ${command} needs a terminal (interactiveMode: Always)`,
      'run the command on a terminal, or use other credentials',
    );
  }
  return { command, apiVersion };
}

async function runPlugin(options: ExecPluginOptions): Promise<{ credential: Credential; expiresAt: number }> {
  const { exec, user, file, env } = options;
  const { command, apiVersion } = checkEntry(options);
  const failed = (what: string, hint: string, cause?: unknown): Error =>
    kubeconfigError('CAP_KUBECONFIG_EXEC', `user "${user}" in ${file}: ${command} ${what}`, hint, cause);
  const attached = options.interactive === true && exec.interactiveMode !== 'Never';
  const info = {
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: attached, ...(exec.provideClusterInfo === true && { cluster: options.cluster }) },
  };
  const childEnv: Record<string, string> = { KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  for (const [name, value] of Object.entries(env)) if (value !== undefined) childEnv[name] ??= value;
  for (const { name, value } of exec.env ?? []) childEnv[name] = value;

  // A bare name is looked up in PATH; other relative paths are relative to the kubeconfig.
  const program =
    command.includes(sep) && !isAbsolute(command) && file !== '' ? resolve(dirname(file), command) : command;
  const { code, stdout, error } = await collect(program, exec.args ?? [], childEnv, attached);
  if (error) {
    const missing = errnoOf(error) === 'ENOENT';
    throw failed(
      missing ? 'was not found' : `could not be started: ${errorMessage(error)}`,
      exec.installHint ?? 'install the credential plugin named in the kubeconfig and make sure it is on PATH',
      error,
    );
  }
  if (code !== 0)
    throw failed(`failed with exit code ${code}`, 'run the plugin by hand to see why; its errors were printed above');
  return readAnswer(stdout, apiVersion, failed);
}

function readAnswer(
  stdout: string,
  apiVersion: string,
  failed: (what: string, hint: string) => Error,
): { credential: Credential; expiresAt: number } {
  const hint = 'the plugin and the apiVersion in the kubeconfig do not fit; update one of them';
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    // The output is not quoted, because it may contain a token.
    throw failed('did not print an ExecCredential', hint);
  }
  if (!isJsonObject(answer) || answer['kind'] !== 'ExecCredential')
    throw failed('did not print an ExecCredential', hint);
  if (answer['apiVersion'] !== apiVersion) {
    throw failed(`answered in ${JSON.stringify(answer['apiVersion'])} instead of ${apiVersion}`, hint);
  }
  const status = answer['status'];
  if (!isJsonObject(status)) throw failed('printed an ExecCredential without status', hint);
  const text = (key: string): string | undefined => {
    const value = status[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const token = text('token');
  const certificate = text('clientCertificateData');
  const key = text('clientKeyData');
  if ((certificate === undefined) !== (key === undefined)) {
    throw failed('printed only one of clientCertificateData and clientKeyData', hint);
  }
  if (token === undefined && certificate === undefined) {
    throw failed('printed neither a token nor a client certificate', 'log in with the plugin, then try again');
  }
  const expiry = Date.parse(text('expirationTimestamp') ?? '');
  return {
    credential: {
      ...(token !== undefined && { token }),
      ...(certificate !== undefined && key !== undefined && { clientCertificate: { certificate, key } }),
    },
    expiresAt: Number.isNaN(expiry) ? Number.POSITIVE_INFINITY : expiry,
  };
}

function collect(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  attached: boolean,
): Promise<{ code: number | null; stdout: string; error?: unknown }> {
  return new Promise((done) => {
    const child = spawn(program, args, { env, stdio: [attached ? 'inherit' : 'ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    must(child.stdout, 'the output of the plugin').on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', (error) => done({ code: null, stdout: '', error }));
    child.on('close', (code) => done({ code, stdout: Buffer.concat(chunks).toString('utf8') }));
  });
}
