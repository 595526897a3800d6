import { canonicalQuantity } from '../../machinery/index.ts';

/** Sets a field that is absent or an empty string. Go cannot distinguish them, so kube-apiserver sets both. */
export function setDefault<T extends object, K extends keyof T>(
  target: T,
  key: K,
  value: NonNullable<T[K]>,
): NonNullable<T[K]> {
  const current = target[key];
  if (current !== undefined && current !== null && current !== '') return current;
  target[key] = value;
  return value;
}

/** Like setDefault, for numbers where zero means "not set". */
export function setDefaultNumber<K extends string>(target: { [key in K]?: number }, key: K, value: number): void {
  if (!target[key]) target[key] = value;
}

export type ResourceList = Record<string, string>;

export function addMissing(amounts: ResourceList, others: Readonly<ResourceList> | undefined): void {
  for (const [name, amount] of Object.entries(others ?? {})) amounts[name] ??= amount;
}

/** Rewrites amounts in their canonical form, as upstream's decoder does. Invalid quantities are left for validation. */
export function canonicalizeResources(resources: ResourceList | undefined): void {
  for (const name in resources) {
    const canonical = canonicalQuantity(resources[name]);
    if (canonical !== undefined && canonical !== resources[name]) resources[name] = canonical;
  }
}

export function canonicalizeRequirements(
  requirements: { limits?: ResourceList; requests?: ResourceList } | undefined,
): void {
  if (!requirements) return;
  canonicalizeResources(requirements.limits);
  canonicalizeResources(requirements.requests);
}
