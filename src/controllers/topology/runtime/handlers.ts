import {
  type BlockingHook,
  conversionDataAnnotation,
  type ExtensionConfig,
  ExtensionConfigs,
  type ExtensionHandler,
  type HookName,
  type HookRequests,
  type HookResponses,
  hooksApiVersion,
  Namespaces,
  type QueryHook,
} from '../../../api/index.ts';
import {
  asJson,
  type Clock,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  labelSelectorFromObject,
} from '../../../machinery/index.ts';
import type { CacheReader, Logger } from '../../../runtime/index.ts';
import { type ExtensionHandlers, HookError, type HookSubject } from '../../shared/index.ts';
import { parseAnswer } from './answers.ts';
import { defaultTimeoutSeconds } from './discovery.ts';
import { type ExtensionTransport, ExtensionUnreachableError } from './transport.ts';

export interface ExtensionHandlersOptions {
  /** provides ExtensionConfigs and Namespaces */
  cache: CacheReader;
  clock: Clock;
  transport: ExtensionTransport;
  log: Logger;
}

interface Registration {
  handler: ExtensionHandler;
  config: ExtensionConfig;
}

/** Pause after a timeout: every call to an unresponsive extension would delay other clusters. */
const pauseAfterTimeoutMs = 10_000;

/** Builds the handlers in the status of ExtensionConfigs. Those of an unreachable extension remain and fail. */
export function createExtensionHandlers(options: ExtensionHandlersOptions): ExtensionHandlers {
  const { cache, clock, transport, log } = options;
  const stalled = new Map<string, { until: number; message: string }>();

  const registrations = (): Registration[] =>
    cache
      .lister(ExtensionConfigs)
      .list()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap((config) => (config.status?.handlers ?? []).map((handler) => ({ handler, config })));

  const concerns = ({ spec }: ExtensionConfig, namespace: string): boolean => {
    const selector = labelSelectorFromObject(spec.namespaceSelector ?? {});
    return selector.matches(cache.lister(Namespaces).get({ name: namespace })?.metadata.labels ?? {});
  };

  const post = async (
    { handler, config }: Registration,
    hook: HookName,
    body: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonValue> => {
    const extension = config.metadata.name ?? '';
    const pause = stalled.get(extension);
    if (pause && pause.until > clock.now()) throw new ExtensionUnreachableError(pause.message, { isTimeout: true });
    stalled.delete(extension);
    const own = handler.name.slice(0, -(extension.length + 1));
    try {
      return await transport.post({
        extension,
        config: config.spec.clientConfig,
        path: `/${hooksApiVersion}/${hook}/${own}`.toLowerCase(),
        timeoutMs: (handler.timeoutSeconds ?? defaultTimeoutSeconds) * 1000,
        body,
        signal,
      });
    } catch (error) {
      if (error instanceof ExtensionUnreachableError && error.isTimeout) {
        stalled.set(extension, { until: clock.now() + pauseAfterTimeoutMs, message: error.message });
      }
      throw error;
    }
  };

  return {
    listening: (hook, namespace) =>
      registrations()
        .filter(({ handler, config }) => handler.requestHook.hook === hook && concerns(config, namespace))
        .map(({ handler }) => handler.name)
        .sort(),

    async call<H extends QueryHook | BlockingHook>(
      hook: H,
      name: string,
      subject: HookSubject,
      request: HookRequests[H],
      { signal, settings }: { signal: AbortSignal; settings?: Readonly<Record<string, string>> },
    ): Promise<HookResponses[H]> {
      const registration = registrations().find(({ handler }) => handler.name === name);
      const refuse = (why: string): HookError => new HookError(`handler ${name} of hook ${hook} ${why}`);
      if (!registration) throw refuse('is not known: no ExtensionConfig has discovered it');
      const { handler, config } = registration;
      if (handler.requestHook.hook !== hook) throw refuse(`cannot be called: it answers ${handler.requestHook.hook}`);
      const namespace = subject.metadata.namespace ?? '';
      if (!concerns(config, namespace)) {
        throw refuse(`cannot be called: its ExtensionConfig does not select namespace ${namespace}`);
      }
      const body: JsonObject = {
        apiVersion: hooksApiVersion,
        kind: `${hook}Request`,
        settings: { ...config.spec.settings, ...settings },
        ...slim(asJson(request)),
      };
      try {
        return parseAnswer(hook, await post(registration, hook, body, signal));
      } catch (error) {
        if (!(error instanceof HookError)) throw error;
        if (error instanceof ExtensionUnreachableError) {
          if (handler.failurePolicy === 'Ignore') {
            log.warn('A runtime extension could not be asked; its failure policy is Ignore', {
              handler: name,
              hook,
              error,
            });
            return parseAnswer(hook, { status: 'Success' });
          }
          throw new HookError(`handler ${name} of hook ${hook} cannot be asked: ${error.message}`, { cause: error });
        }
        throw new HookError(`handler ${name} of hook ${hook} ${error.message}`, { cause: error });
      }
    },
  };
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Reduces the Cluster in a request as upstream does: without status and server-set metadata. */
function slim(request: JsonValue): JsonObject {
  if (!isJsonObject(request)) return {};
  const { cluster } = request;
  if (!isJsonObject(cluster)) return request;
  const { status: _, ...rest } = cluster;
  const { managedFields: __, annotations, ...metadata } = (cluster as JsonObject & KubeObject).metadata;
  const kept = Object.entries(annotations ?? {}).filter(
    ([name]) => name !== lastApplied && name !== conversionDataAnnotation,
  );
  return {
    ...request,
    cluster: {
      ...rest,
      metadata: asJson({ ...metadata, ...(annotations && { annotations: Object.fromEntries(kept) }) }),
    },
  };
}
