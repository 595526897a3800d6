import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type JsonObject, systemClock } from '../../src/machinery/index.ts';
import { createAuthority, issueCertificate } from '../../src/pki/index.ts';

/** hooks and the names of this server's handlers */
export const extensionHooks: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'GeneratePatches',
    'ValidateTopology',
    'DiscoverVariables',
    'GenerateUpgradePlan',
    'BeforeClusterCreate',
    'AfterControlPlaneInitialized',
    'BeforeClusterUpgrade',
    'BeforeControlPlaneUpgrade',
    'AfterControlPlaneUpgrade',
    'BeforeWorkersUpgrade',
    'AfterWorkersUpgrade',
    'AfterClusterUpgrade',
    'BeforeClusterDelete',
    'CanUpdateMachine',
    'CanUpdateMachineSet',
    'UpdateMachine',
  ].map((hook) => [hook, hook.replace(/(?<!^)([A-Z])/g, '-$1').toLowerCase()]),
);

export interface ExtensionCall {
  readonly hook: string;
  readonly handler: string;
  readonly request: JsonObject;
  /** path with query */
  readonly path: string;
}

/** Answer to a hook: JSON, arbitrary text, or none until the server stops. */
export type ExtensionAnswer = JsonObject | { readonly status: number; readonly text: string } | 'stall';

export interface ExtensionServerOptions {
  /** hooks with a handler; default: all */
  hooks?: readonly string[];
  /** additional fields of a handler by hook */
  handlers?: Readonly<Record<string, { timeoutSeconds?: number; failurePolicy?: string }>>;
  /** additional names in the certificate besides 127.0.0.1 and localhost */
  names?: readonly string[];
}

/** A runtime extension for tests, with one handler per hook. */
export interface ExtensionServer {
  readonly url: string;
  readonly port: number;
  /** PEM CA of its certificate */
  readonly authority: string;
  /** the same for spec.clientConfig.caBundle */
  readonly caBundle: string;
  /** calls except Discovery */
  readonly calls: readonly ExtensionCall[];
  discoveries(): number;
  /** sets the answer of a hook or of Discovery; default: Success */
  answer(hook: string, answer: ExtensionAnswer | ((call: ExtensionCall) => ExtensionAnswer)): void;
  /** refuses connections until `start` */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const apiVersion = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';

export async function startExtensionServer(options: ExtensionServerOptions = {}): Promise<ExtensionServer> {
  const authority = await createAuthority({ commonName: 'extension-authority', clock: systemClock });
  const serving = await issueCertificate({
    authority,
    commonName: 'extension',
    hosts: ['127.0.0.1', 'localhost', ...(options.names ?? [])],
    usages: ['server'],
    clock: systemClock,
  });
  const calls: ExtensionCall[] = [];
  let discoveries = 0;
  const answers = new Map<string, ExtensionAnswer | ((call: ExtensionCall) => ExtensionAnswer)>();
  const hooks = options.hooks ?? Object.keys(extensionHooks);
  const discovery = (): JsonObject => ({
    apiVersion,
    kind: 'DiscoveryResponse',
    status: 'Success',
    handlers: hooks.map((hook) => ({
      name: extensionHooks[hook] ?? hook.toLowerCase(),
      requestHook: { apiVersion, hook },
      ...options.handlers?.[hook],
    })),
  });
  const answerOf = (call: ExtensionCall): ExtensionAnswer => {
    const set = answers.get(call.hook) ?? (call.hook === 'Discovery' ? discovery() : undefined);
    const answer = typeof set === 'function' ? set(call) : set;
    return answer ?? { apiVersion, kind: `${call.hook}Response`, status: 'Success' };
  };
  const byPath = new Map(['Discovery', ...Object.keys(extensionHooks)].map((hook) => [hook.toLowerCase(), hook]));

  let server: Server | undefined;
  let port = 0;
  const start = async (): Promise<void> => {
    const made = createServer({ cert: serving.certificate, key: serving.privateKey }, async (request, response) => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const path = request.url ?? '';
      const [, hookPath = '', handler = ''] = /v1alpha1\/([^/?]+)\/?([^?]*)/.exec(path) ?? [];
      const hook = byPath.get(hookPath) ?? hookPath;
      const call: ExtensionCall = { hook, handler, path, request: JSON.parse(text) as JsonObject };
      if (hook === 'Discovery') discoveries++;
      else calls.push(call);
      const answer = answerOf(call);
      if (answer === 'stall') return;
      const isRaw = 'text' in answer && typeof answer['status'] === 'number';
      response.writeHead(isRaw ? (answer['status'] as number) : 200, { 'content-type': 'application/json' });
      response.end(isRaw ? String(answer['text']) : JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => made.listen(port, '127.0.0.1', resolve));
    port = (made.address() as AddressInfo).port;
    server = made;
  };
  await start();
  return {
    get url() {
      return `https://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    authority: authority.certificate,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    calls,
    discoveries: () => discoveries,
    answer: (hook, answer) => void answers.set(hook, answer),
    start,
    async stop() {
      const running = server;
      server = undefined;
      running?.closeAllConnections();
      await new Promise<void>((resolve) => (running ? running.close(() => resolve()) : resolve()));
    },
  };
}
