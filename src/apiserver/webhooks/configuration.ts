import {
  errorMessage,
  isJsonObject,
  type JsonObject,
  type LabelSelectorMatcher,
  labelSelectorFromObject,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { keyPrefix } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { compileMatchConditions, type MatchCondition, type MatchConditions } from './match-conditions.ts';
import type { WebhookClientConfig } from './webhook-client.ts';

export interface WebhookRule {
  operations: readonly string[];
  apiGroups: readonly string[];
  apiVersions: readonly string[];
  resources: readonly string[];
  scope: string;
}

/** One webhook of a configuration, ready to be matched. */
export interface Webhook {
  name: string;
  configuration: string;
  clientConfig: WebhookClientConfig;
  rules: readonly WebhookRule[];
  failurePolicy: 'Fail' | 'Ignore';
  matchPolicy: 'Exact' | 'Equivalent';
  namespaceSelector: LabelSelectorMatcher;
  objectSelector: LabelSelectorMatcher;
  matchConditions: MatchConditions;
  sideEffects: string;
  timeoutMs: number;
  reinvoke: boolean;
}

export type WebhookPhase = 'mutating' | 'validating';

/** The webhooks in force, kept equal to the stored configurations; sorted by configuration name as upstream does. */
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
            list.push(...parseConfiguration(value.object as unknown as JsonObject));
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
    rules: (Array.isArray(webhook['rules']) ? webhook['rules'].filter(isJsonObject) : []).map(parseRule),
    failurePolicy: webhook['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
    matchPolicy: webhook['matchPolicy'] === 'Exact' ? 'Exact' : 'Equivalent',
    namespaceSelector: labelSelectorFromObject(
      isJsonObject(webhook['namespaceSelector']) ? webhook['namespaceSelector'] : {},
    ),
    objectSelector: labelSelectorFromObject(isJsonObject(webhook['objectSelector']) ? webhook['objectSelector'] : {}),
    matchConditions: compileMatchConditions(
      (Array.isArray(webhook['matchConditions']) ? webhook['matchConditions'] : []) as unknown as MatchCondition[],
    ),
    sideEffects: String(webhook['sideEffects'] ?? 'Unknown'),
    timeoutMs: Number(webhook['timeoutSeconds'] ?? 10) * 1000,
    reinvoke: webhook['reinvocationPolicy'] === 'IfNeeded',
  }));
}

function parseRule(rule: JsonObject): WebhookRule {
  const texts = (key: string): string[] => (Array.isArray(rule[key]) ? rule[key].map(String) : []);
  return {
    operations: texts('operations'),
    apiGroups: texts('apiGroups'),
    apiVersions: texts('apiVersions'),
    resources: texts('resources'),
    scope: String(rule['scope'] ?? '*'),
  };
}

/** What a rule is compared with. */
export interface RuleSubject {
  operation: string;
  group: string;
  version: string;
  resource: string;
  subresource: string | undefined;
  namespaced: boolean;
}

export function ruleMatches(rule: WebhookRule, subject: RuleSubject): boolean {
  return (
    includes(rule.operations, subject.operation) &&
    includes(rule.apiGroups, subject.group) &&
    includes(rule.apiVersions, subject.version) &&
    (rule.scope === '*' || (rule.scope === 'Namespaced') === subject.namespaced) &&
    rule.resources.some((pattern) => resourceMatches(pattern, subject.resource, subject.subresource))
  );
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function resourceMatches(pattern: string, resource: string, subresource: string | undefined): boolean {
  const [wantedResource, wantedSubresource] = pattern.split('/');
  if (wantedResource !== '*' && wantedResource !== resource) return false;
  if (wantedSubresource === undefined) return subresource === undefined;
  return wantedSubresource === '*' || wantedSubresource === subresource;
}
