import { must } from '../../machinery/index.ts';
import type { Caller } from '../core/caller.ts';
import type { Attributes, Values } from './attributes/attribute.ts';
import { isDictionary } from './attributes/checks.ts';
import { disallowed } from './refusals.ts';

/** Whether the caller may set an attribute (`fixed_ips`) or a part of it (`fixed_ips:ip_address`). */
export type AttributeRules = Readonly<Record<string, (caller: Caller, values: Values) => boolean>>;

export const adminOnly = (caller: Caller): boolean => caller.isAdmin;

/**
 * Refuses attributes that the caller may not set. On creation an attribute equal to its default is ignored. The refusal
 * lists every evaluated rule, as in neutron.
 */
export function enforceAttributes(
  action: string,
  attributes: Attributes,
  rules: AttributeRules,
  values: Values,
  caller: Caller,
): void {
  if (caller.isAdmin) return;
  const isCreation = action.startsWith('create_');
  let text = `rule:${action}`;
  let isAllowed = true;
  for (const name in attributes) {
    const attribute = must(attributes[name], 'attributes[name]');
    if (!attribute.ruled || values[name] === undefined) continue;
    if (isCreation && isSame(values[name], attribute.default)) continue;
    const own = `rule:${action}:${name}`;
    const parts = partsOf(values[name], attribute.hasRuledParts === true);
    isAllowed &&= rules[name]?.(caller, values) ?? true;
    for (const part of parts) isAllowed &&= rules[`${name}:${part}`]?.(caller, values) ?? true;
    const partRules = parts.map((part) => `${own}:${part}`).join(' and ');
    text = `(${text} and ${parts.length === 0 ? own : `(${own} and (${partRules}))`})`;
  }
  if (!isAllowed) throw disallowed(text);
}

function isSame(value: unknown, standIn: unknown): boolean {
  return value === standIn || (typeof value === 'object' && JSON.stringify(value) === JSON.stringify(standIn));
}

function partsOf(value: unknown, hasParts: boolean): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => (isDictionary(item) ? Object.keys(item) : []));
  return hasParts && isDictionary(value) ? Object.keys(value) : [];
}
