import type { BlockingHook, HookName, HookRequests, HookResponses, LifecycleHook, QueryHook } from '../../api/index.ts';
import { CapstanError, type Clock, errorMessage, type KubeObject } from '../../machinery/index.ts';

/** What came of a hook. Messages name the handler and its extension. */
export type HookResult =
  | { readonly status: 'go-on'; readonly message?: string }
  /** somebody asked to wait; an event or the time wakes the caller, who shows the message in a condition until then */
  | { readonly status: 'wait'; readonly retryAfterSeconds: number; readonly message: string }
  /** somebody failed or could not be asked; the caller shows the message and tries again with back-off */
  | { readonly status: 'failed'; readonly message: string };

type HandlerOf<H extends LifecycleHook> = {
  readonly [K in H]: {
    readonly hook: K;
    /** unique among the built-in handlers of the hook; shown to users */
    readonly name: string;
    /** whether the handler has anything to do with the Cluster; default: it has */
    readonly concerns?: (request: HookRequests[K]) => boolean;
    /** Idempotent: a hook is called again until nobody asks to wait. */
    readonly call: (request: HookRequests[K], signal: AbortSignal) => Promise<HookResult>;
  };
}[H];

/** A handler that is part of this program: no server and no ExtensionConfig is needed for it. */
export type BuiltInHookHandler = HandlerOf<LifecycleHook>;

/** The object a hook is about; its namespace decides which extensions are asked. */
export interface HookSubject {
  readonly metadata: Pick<KubeObject['metadata'], 'namespace' | 'name' | 'uid'>;
}

/** Runtime extensions that ExtensionConfigs name, asked over HTTPS. */
export interface ExtensionHandlers {
  /** names (`handler.extension`) of those who listen to a hook of objects in the namespace, in the order they are asked */
  listening(hook: HookName, namespace: string): readonly string[];
  /** Asks one handler. Throws HookError, whose message names it; a failure that its policy ignores is an empty answer. */
  call<H extends QueryHook | BlockingHook>(
    hook: H,
    handler: string,
    subject: HookSubject,
    request: HookRequests[H],
    options: { signal: AbortSignal; settings?: Readonly<Record<string, string>> },
  ): Promise<HookResponses[H]>;
}

/** Calls hooks: the handlers of this program first, then extensions. */
export interface HookCaller {
  /** whether anybody listens; where nobody does, no intent to call the hook needs to be recorded */
  isListenedTo(hook: HookName, subject: HookSubject): boolean;
  /**
   * Calls all handlers one after the other and stops at the first that fails. Who asked to wait is not asked again before its
   * time is over.
   */
  call<H extends BlockingHook>(
    hook: H,
    subject: HookSubject,
    request: HookRequests[H],
    signal: AbortSignal,
  ): Promise<HookResult>;
  /** Asks the handler that a ClusterClass names. Throws HookError. */
  ask: ExtensionHandlers['call'];
  /** names of the extensions' handlers of a hook, for hooks whose answers the caller puts together itself */
  handlers(hook: HookName, subject: HookSubject): readonly string[];
}

/** A handler that failed, could not be asked or answered what cannot be understood. */
export class HookError extends CapstanError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('CAP_HOOK', message, options);
    this.name = 'HookError';
  }
}

export interface HookCallerOptions {
  clock: Clock;
  builtIn?: readonly BuiltInHookHandler[];
  /** default: none */
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
  // the names are equal, so the request is the one of the handler
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

/** An upgrade to another version is another question. */
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

/** Who asked to wait, until when. A restart forgets it and asks again, which hooks must bear. */
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
