import type { BlockingHook, HookName, HookRequests, HookResponses, LifecycleHook, QueryHook } from '../../api/index.ts';
import { CapstanError, type Clock, errorMessage, type KubeObject } from '../../machinery/index.ts';

/** Result of a hook. Messages name the handler and its extension. */
export type HookResult =
  | { readonly status: 'go-on'; readonly message?: string }
  /** a handler asked to wait; an event or the time enqueues the caller, which reports the message in a condition */
  | { readonly status: 'wait'; readonly retryAfterSeconds: number; readonly message: string }
  /** a handler failed or was unreachable; the caller reports the message and retries with back-off */
  | { readonly status: 'failed'; readonly message: string };

type HandlerOf<H extends LifecycleHook> = {
  readonly [K in H]: {
    readonly hook: K;
    /** unique among the built-in handlers of the hook; shown to users */
    readonly name: string;
    /** whether the handler applies to the Cluster; default yes */
    readonly concerns?: (request: HookRequests[K]) => boolean;
    /** Idempotent: the hook is called again until no handler asks to wait. */
    readonly call: (request: HookRequests[K], signal: AbortSignal) => Promise<HookResult>;
  };
}[H];

/** A handler inside this process, without server and ExtensionConfig. */
export type BuiltInHookHandler = HandlerOf<LifecycleHook>;

/** Object of a hook; its namespace determines which extensions are called. */
export interface HookSubject {
  readonly metadata: Pick<KubeObject['metadata'], 'namespace' | 'name' | 'uid'>;
}

/** Runtime extensions from ExtensionConfigs, called over HTTPS. */
export interface ExtensionHandlers {
  /** names (`handler.extension`) of the handlers of a hook for a namespace, in call order */
  listening(hook: HookName, namespace: string): readonly string[];
  /** Calls one handler. Throws a HookError that names it; a failure with policy Ignore counts as an empty response. */
  call<H extends QueryHook | BlockingHook>(
    hook: H,
    handler: string,
    subject: HookSubject,
    request: HookRequests[H],
    options: { signal: AbortSignal; settings?: Readonly<Record<string, string>> },
  ): Promise<HookResponses[H]>;
}

/** Calls hooks: built-in handlers first, then extensions. */
export interface HookCaller {
  /** whether any handler is registered; if not, a pending hook need not be recorded */
  isListenedTo(hook: HookName, subject: HookSubject): boolean;
  /**
   * Calls all handlers in turn and stops at the first failure. A handler that asked to wait is not called again before
   * its time has passed.
   */
  call<H extends BlockingHook>(
    hook: H,
    subject: HookSubject,
    request: HookRequests[H],
    signal: AbortSignal,
  ): Promise<HookResult>;
  /** Calls the handler that a ClusterClass names. Throws HookError. */
  ask: ExtensionHandlers['call'];
  /** names of the extension handlers of a hook, for callers that combine the responses themselves */
  handlers(hook: HookName, subject: HookSubject): readonly string[];
}

/** A handler failed, was unreachable or returned an invalid response. */
export class HookError extends CapstanError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('CAP_HOOK', message, options);
    this.name = 'HookError';
  }
}

export interface HookCallerOptions {
  clock: Clock;
  builtIn?: readonly BuiltInHookHandler[];
  /** default none */
  extensions?: ExtensionHandlers;
}

interface Answer {
  readonly retryAfterSeconds: number;
  readonly message: string;
}

export function createHookCaller(options: HookCallerOptions): HookCaller {
  const { clock, builtIn = [], extensions = noExtensions } = options;
  const waits = createWaits(clock);
  const listening = (hook: HookName, { metadata }: HookSubject): readonly string[] =>
    extensions.listening(hook, metadata.namespace ?? '');
  return {
    isListenedTo: (hook, subject) =>
      builtIn.some((handler) => handler.hook === hook) || listening(hook, subject).length > 0,
    handlers: (hook, subject) => listening(hook, subject),
    ask: (...call) => extensions.call(...call),
    async call(hook, subject, request, signal) {
      const answers: Answer[] = [];
      for (const handler of builtIn) {
        const result = await callBuiltIn(handler, hook, request, signal);
        if (result?.status === 'failed') return result;
        if (result?.status === 'wait') answers.push(result);
      }
      for (const handler of listening(hook, subject)) {
        const key = waitKey(hook, handler, subject, request);
        try {
          let answer = waits.get(key);
          if (!answer) {
            const response: HookResponses[BlockingHook] = await extensions.call(hook, handler, subject, request, {
              signal,
            });
            const seconds = 'retryAfterSeconds' in response ? (response.retryAfterSeconds ?? 0) : 0;
            answer = { retryAfterSeconds: seconds, message: withName(handler, response.message) };
            if (seconds > 0) waits.set(key, answer);
          }
          if (answer.retryAfterSeconds > 0) answers.push(answer);
        } catch (error) {
          if (signal.aborted || !(error instanceof HookError)) throw error;
          return { status: 'failed', message: errorMessage(error) };
        }
      }
      if (answers.length === 0) return { status: 'go-on' };
      return {
        status: 'wait',
        retryAfterSeconds: Math.min(...answers.map(({ retryAfterSeconds }) => retryAfterSeconds)),
        message: answers.map(({ message }) => message).join(', '),
      };
    },
  };
}

async function callBuiltIn(
  handler: BuiltInHookHandler,
  hook: BlockingHook,
  request: HookRequests[BlockingHook],
  signal: AbortSignal,
): Promise<HookResult | undefined> {
  if (handler.hook !== hook) return undefined;
  // the hook names are equal, so the request type is the handler's
  const { concerns, call } = handler as {
    concerns?: (request: HookRequests[BlockingHook]) => boolean;
    call: (request: HookRequests[BlockingHook], signal: AbortSignal) => Promise<HookResult>;
  };
  if (concerns?.(request) === false) return undefined;
  const result = await call(request, signal);
  return result.status === 'go-on' ? result : { ...result, message: withName(handler.name, result.message) };
}

const withName = (handler: string, message: string | undefined): string =>
  message ? `${handler}: ${message}` : `${handler} asked to wait`;

const noExtensions: ExtensionHandlers = {
  listening: () => [],
  call: async (hook, handler) => {
    throw new HookError(`handler ${handler} of hook ${hook} is not known: no ExtensionConfig has discovered it`);
  },
};

/** The key contains the target version, because an upgrade to another version is a new question. */
function waitKey(
  hook: BlockingHook,
  handler: string,
  { metadata }: HookSubject,
  request: HookRequests[BlockingHook],
): string {
  const versions =
    'toKubernetesVersion' in request ? `${request.fromKubernetesVersion} ${request.toKubernetesVersion}` : '';
  return [hook, handler, metadata.uid ?? `${metadata.namespace}/${metadata.name}`, versions].join('\n');
}

/**
 * Handlers that asked to wait, and until when. A restart forgets it and calls them again, which handlers must tolerate.
 */
function createWaits(clock: Clock): { get(key: string): Answer | undefined; set(key: string, answer: Answer): void } {
  const entries = new Map<string, { until: number; message: string }>();
  const prune = (now: number): void => {
    for (const [key, { until }] of entries) if (until <= now) entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      const left = entry ? entry.until - clock.now() : 0;
      return entry && left > 0 ? { retryAfterSeconds: Math.ceil(left / 1000), message: entry.message } : undefined;
    },
    set(key, { retryAfterSeconds, message }) {
      const now = clock.now();
      prune(now);
      entries.set(key, { until: now + retryAfterSeconds * 1000, message });
    },
  };
}
