import type { Random } from '../../../machinery/index.ts';

const maxNameLength = 63;
const randomLength = 5;
const variable = /\{\{-?\s*\.([a-zA-Z0-9.]+)\s*-?\}\}/g;

/** Generates a Machine name from a naming template; `values` are its variables besides `random`. */
export function machineName(template: string, values: Readonly<Record<string, string>>, random: Random): string {
  const suffix = random.text(randomLength);
  const name = template.replace(variable, (_, path: string) => (path === 'random' ? suffix : (values[path] ?? '')));
  if (name.length <= maxNameLength) return name;
  // keep the random part when truncating, because it makes names unique
  const base = template.replace(variable, (_, path: string) => (path === 'random' ? '' : (values[path] ?? '')));
  return `${base.slice(0, maxNameLength - randomLength)}${suffix}`;
}
