import type { Random } from '../../../machinery/index.ts';

const maxNameLength = 63;
const randomLength = 5;
const variable = /\{\{-?\s*\.([a-zA-Z0-9.]+)\s*-?\}\}/g;

/** A name for a new Machine from a naming template; `values` are its variables beside `random`. */
export function machineName(template: string, values: Readonly<Record<string, string>>, random: Random): string {
  const suffix = random.text(randomLength);
  const name = template.replace(variable, (_, path: string) => (path === 'random' ? suffix : (values[path] ?? '')));
  if (name.length <= maxNameLength) return name;
  // the random part is what tells machines apart: it must survive
  const base = template.replace(variable, (_, path: string) => (path === 'random' ? '' : (values[path] ?? '')));
  return `${base.slice(0, maxNameLength - randomLength)}${suffix}`;
}
