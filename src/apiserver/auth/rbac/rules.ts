import { must, trimTrailing } from '../../../machinery/index.ts';
import type { AuthorizationAttributes } from '../attributes.ts';
import type { PolicyRule } from './types.ts';

/** A preprocessed request that is matched against many rules. */
export interface RuleQuery {
  readonly verb: string;
  readonly group: string;
  /** `pods` or `pods/log` */
  readonly resource: string;
  /** `*` + `/log`, empty without a subresource */
  readonly anyWithSubresource: string;
  readonly name: string;
  readonly path: string;
  readonly resourceRequest: boolean;
}

export function ruleQuery(attributes: AuthorizationAttributes): RuleQuery {
  const { subresource } = attributes;
  return {
    verb: attributes.verb,
    group: attributes.group,
    resource: subresource === '' ? attributes.resource : `${attributes.resource}/${subresource}`,
    anyWithSubresource: subresource === '' ? '' : `*/${subresource}`,
    name: attributes.name,
    path: attributes.path,
    resourceRequest: attributes.resourceRequest,
  };
}

/** A rule with detected wildcards and hashed lists. */
export interface CompiledRule {
  readonly rule: PolicyRule;
  readonly anyVerb: boolean;
  readonly verbs: ReadonlySet<string>;
  readonly anyGroup: boolean;
  readonly groups: ReadonlySet<string>;
  readonly anyResource: boolean;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string> | undefined;
  readonly paths: ReadonlySet<string>;
  /** `/healthz/` for `/healthz/*` */
  readonly pathPrefixes: readonly string[];
}

/** All API servers of a process have the same hundreds of default rules, so compiled rules are shared. */
const shared = new Map<string, CompiledRule>();
const maxShared = 2_048;
/** longer rules are custom and not shared */
const maxSharedLength = 2_048;

/** Compiles a rule. Equal rules may share one result. */
export function compileRule(rule: PolicyRule): CompiledRule {
  const text = JSON.stringify(rule);
  const known = shared.get(text);
  if (known) return known;
  const compiled = takeApart(rule);
  if (shared.size < maxShared && text.length <= maxSharedLength) shared.set(text, compiled);
  return compiled;
}

function takeApart(rule: PolicyRule): CompiledRule {
  const paths = rule.nonResourceURLs ?? [];
  return {
    rule,
    anyVerb: (rule.verbs ?? []).includes('*'),
    verbs: new Set(rule.verbs ?? []),
    anyGroup: rule.apiGroups?.includes('*') ?? false,
    groups: new Set(rule.apiGroups),
    anyResource: rule.resources?.includes('*') ?? false,
    resources: new Set(rule.resources),
    names: rule.resourceNames !== undefined && rule.resourceNames.length > 0 ? new Set(rule.resourceNames) : undefined,
    paths: new Set(paths),
    pathPrefixes: paths.filter((path) => path.endsWith('*')).map((path) => trimTrailing(path, '*')),
  };
}

export function ruleAllows(rule: CompiledRule, query: RuleQuery): boolean {
  if (!rule.anyVerb && !rule.verbs.has(query.verb)) return false;
  if (query.resourceRequest) {
    return (
      (rule.anyGroup || rule.groups.has(query.group)) &&
      (rule.anyResource ||
        rule.resources.has(query.resource) ||
        (query.anyWithSubresource !== '' && rule.resources.has(query.anyWithSubresource))) &&
      (rule.names === undefined || rule.names.has(query.name))
    );
  }
  if (rule.paths.has(query.path)) return true;
  for (const prefix of rule.pathPrefixes) if (query.path.startsWith(prefix)) return true;
  return false;
}

/** Splits a rule into one rule per combination of group, resource, verb and name (or path and verb). */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = [];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        const part: PolicyRule = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (rule.resourceNames === undefined || rule.resourceNames.length === 0) parts.push(part);
        else for (const name of rule.resourceNames) parts.push({ ...part, resourceNames: [name] });
      }
    }
  }
  for (const path of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs) parts.push({ verbs: [verb], nonResourceURLs: [path] });
  }
  return parts;
}

/** Tells whether `owner` grants everything that `part` grants; `part` comes from `breakDown`. */
function covers(owner: CompiledRule, part: PolicyRule): boolean {
  if (!owner.anyVerb && !owner.verbs.has(must(part.verbs[0], 'the first of part.verbs'))) return false;
  const path = part.nonResourceURLs?.[0];
  if (path !== undefined) {
    return owner.paths.has(path) || owner.pathPrefixes.some((prefix) => path.startsWith(prefix));
  }
  const group = part.apiGroups?.[0] ?? '';
  const resource = part.resources?.[0] ?? '';
  if (!owner.anyGroup && !owner.groups.has(group)) return false;
  if (!owner.anyResource && !owner.resources.has(resource)) {
    const slash = resource.indexOf('/');
    if (slash < 0 || !owner.resources.has(`*${resource.slice(slash)}`)) return false;
  }
  if (owner.names === undefined) return true;
  const name = part.resourceNames?.[0];
  return name !== undefined && owner.names.has(name);
}

/** Returns the parts of `wanted` that `owned` does not grant, as broken-down rules. */
export function uncoveredRules(owned: readonly CompiledRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !owned.some((owner) => covers(owner, part)));
}

/** Merges the verbs of rules that are otherwise equal. */
export function compactRules(parts: readonly PolicyRule[]): PolicyRule[] {
  const compacted: PolicyRule[] = [];
  const byResource = new Map<string, PolicyRule>();
  for (const part of parts) {
    if (part.nonResourceURLs !== undefined) {
      compacted.push(part);
      continue;
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames]);
    const known = byResource.get(key);
    if (known === undefined) byResource.set(key, { ...part, verbs: [...part.verbs] });
    else known.verbs.push(...part.verbs);
  }
  return [...compacted, ...byResource.values()];
}

/** Formats a list like Go's %q: `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

/** Formats a rule as in escalation messages: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function describeRule(rule: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  return `{${parts.flatMap(([name, values]) => (values === undefined || values.length === 0 ? [] : [`${name}:${quotedList(values)}`])).join(', ')}}`;
}
