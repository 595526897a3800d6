import { asJson, asTyped, errorMessage, isJsonObject, type JsonObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { parseRequestMatch, type RequestMatch } from '../admission/matching.ts';
import { keyPrefix } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { compileMatchConditions, type MatchCondition, type MatchConditions } from './match-conditions.ts';
import type { WebhookClientConfig } from './webhook-client.ts';

export interface Webhook {
  name: string;
  configuration: string;
  clientConfig: WebhookClientConfig;
  match: RequestMatch;
  failurePolicy: 'Fail' | 'Ignore';
  matchConditions: MatchConditions;
  sideEffects: string;
  timeoutMs: number;
  reinvoke: boolean;
}

export type WebhookPhase = 'mutating' | 'validating';

/** All active webhooks, in sync with the store and sorted by configuration name as upstream. */
export class WebhookConfigurations {
  readonly #stops: (() => void)[] = [];
  readonly #lists: Record<WebhookPhase, readonly Webhook[]> = { mutating: [], validating: [] };

  constructor(store: Store<StoredObject>, onError: (error: unknown, what: string) => void) {
    for (const phase of ['mutating', 'validating'] as const) {
      const prefix = keyPrefix({ group: 'admissionregistration.k8s.io', plural: `${phase}webhookconfigurations` });
      const reload = (): void => {
        const list: Webhook[] = [];
        for (const { value } of store.list(prefix).records) {
          try {
            list.push(...parseConfiguration(asJson(value.object)));
          } catch (error) {
            onError(error, `webhook configuration ${value.object.metadata.name}: ${errorMessage(error)}`);
          }
        }
        this.#lists[phase] = list;
      };
      reload();
      this.#stops.push(store.watch(prefix, store.revision, reload));
    }
  }

  list(phase: WebhookPhase): readonly Webhook[] {
    return this.#lists[phase];
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }
}

function parseConfiguration(configuration: JsonObject): Webhook[] {
  const metadata = configuration['metadata'] as JsonObject;
  const webhooks = Array.isArray(configuration['webhooks']) ? configuration['webhooks'].filter(isJsonObject) : [];
  return webhooks.map((webhook) => ({
    name: String(webhook['name']),
    configuration: String(metadata['name']),
    clientConfig: (webhook['clientConfig'] ?? {}) as WebhookClientConfig,
    match: parseRequestMatch(webhook, 'rules'),
    failurePolicy: webhook['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
    matchConditions: compileMatchConditions(
      asTyped<MatchCondition[]>(Array.isArray(webhook['matchConditions']) ? webhook['matchConditions'] : []),
    ),
    sideEffects: String(webhook['sideEffects'] ?? 'Unknown'),
    timeoutMs: Number(webhook['timeoutSeconds'] ?? 10) * 1000,
    reinvoke: webhook['reinvocationPolicy'] === 'IfNeeded',
  }));
}
