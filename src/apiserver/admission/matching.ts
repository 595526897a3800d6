import {
  isJsonObject,
  type JsonObject,
  type LabelSelectorMatcher,
  labelSelectorFromObject,
  type VersionDefinition,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AdmissionRequest } from './types.ts';

/** Selects requests for a webhook or policy. */
export interface AdmissionRule {
  operations: readonly string[];
  apiGroups: readonly string[];
  apiVersions: readonly string[];
  resources: readonly string[];
  scope: string;
  /** empty: all names */
  resourceNames: readonly string[];
}

/** All match criteria of a webhook or policy except match conditions. */
export interface RequestMatch {
  rules: readonly AdmissionRule[];
  excluded: readonly AdmissionRule[];
  matchPolicy: 'Exact' | 'Equivalent';
  namespaceSelector: LabelSelectorMatcher;
  objectSelector: LabelSelectorMatcher;
}

export function parseAdmissionRule(rule: JsonObject): AdmissionRule {
  const texts = (key: string): string[] => (Array.isArray(rule[key]) ? rule[key].map(String) : []);
  return {
    operations: texts('operations'),
    apiGroups: texts('apiGroups'),
    apiVersions: texts('apiVersions'),
    resources: texts('resources'),
    scope: String(rule['scope'] ?? '*'),
    resourceNames: texts('resourceNames'),
  };
}

/** `rulesField` is the name of the field, which differs between webhooks and policies. */
export function parseRequestMatch(source: JsonObject, rulesField: 'rules' | 'resourceRules'): RequestMatch {
  const rules = (field: string): AdmissionRule[] =>
    (Array.isArray(source[field]) ? source[field].filter(isJsonObject) : []).map(parseAdmissionRule);
  const selector = (field: string): LabelSelectorMatcher =>
    labelSelectorFromObject(isJsonObject(source[field]) ? source[field] : {});
  return {
    rules: rules(rulesField),
    excluded: rules('excludeResourceRules'),
    matchPolicy: source['matchPolicy'] === 'Exact' ? 'Exact' : 'Equivalent',
    namespaceSelector: selector('namespaceSelector'),
    objectSelector: selector('objectSelector'),
  };
}

/**
 * Returns the API version in which a request matches: its own or an equivalent one; undefined when it does not match.
 * Without rules, every request matches in its own version.
 */
export function matchRequest(
  match: RequestMatch,
  request: AdmissionRequest,
  store: Store<StoredObject>,
): VersionDefinition | undefined {
  const version = match.rules.length === 0 ? request.target.version : versionOf(match.rules, match, request);
  if (!version || !selectorsMatch(match, request, store)) return undefined;
  return match.excluded.length > 0 && versionOf(match.excluded, match, request) ? undefined : version;
}

function versionOf(
  rules: readonly AdmissionRule[],
  { matchPolicy }: RequestMatch,
  request: AdmissionRequest,
): VersionDefinition | undefined {
  const { definition } = request.target.resource;
  const matches = (version: VersionDefinition): boolean =>
    rules.some((rule) => ruleMatches(rule, request, version.name));
  if (matches(request.target.version)) return request.target.version;
  if (matchPolicy === 'Exact') return undefined;
  return definition.versions.find(
    (version) => version.served && version !== request.target.version && matches(version),
  );
}

function ruleMatches(
  rule: AdmissionRule,
  { operation, subresource, target }: AdmissionRequest,
  version: string,
): boolean {
  const { group, plural, namespaced } = target.resource.definition;
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, group) &&
    includes(rule.apiVersions, version) &&
    (rule.scope === '*' || (rule.scope === 'Namespaced') === namespaced) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(target.name)) &&
    rule.resources.some((pattern) => resourceMatches(pattern, plural, subresource))
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

function selectorsMatch(match: RequestMatch, request: AdmissionRequest, store: Store<StoredObject>): boolean {
  const { object, oldObject } = request;
  if (!match.objectSelector.empty) {
    const labelled = [object, oldObject].filter((candidate) => candidate !== undefined);
    if (!labelled.some((candidate) => match.objectSelector.matches(candidate.metadata.labels ?? {}))) return false;
  }
  if (match.namespaceSelector.empty) return true;
  const { definition } = request.target.resource;
  if (definition.group === '' && definition.plural === 'namespaces') {
    return match.namespaceSelector.matches((object ?? oldObject)?.metadata.labels ?? {});
  }
  if (request.target.namespace === undefined) return true;
  const namespace = store.get(objectKey({ group: '', plural: 'namespaces' }, undefined, request.target.namespace));
  return match.namespaceSelector.matches(namespace?.value.labels ?? {});
}
