import type { HostedMachine } from '../../host/running-machine.ts';
import { type CloudConfig, pythonType } from './config.ts';

export interface ModuleContext {
  readonly machine: HostedMachine;
  readonly cloudConfig: CloudConfig;
  /** writes a line of cloud-init's log to the console, in the format `file.py[LEVEL]: message` */
  warn(text: string): void;
  /** Runs a script and returns its exit status. */
  script(path: string, text: string): Promise<number>;
}

/** A failed module. cloud-init continues with the next one. */
export class ModuleError extends Error {}

export type Module = (context: ModuleContext) => Promise<void> | void;

/** Quotes a word for the shell. */
export function quoted(word: unknown): string {
  return `'${String(word).replaceAll("'", `'\\''`)}'`;
}

export function listOf(context: ModuleContext, key: string): readonly unknown[] | undefined {
  const value = context.cloudConfig.config[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw new ModuleError(`${key} is ${pythonType(value)}, not a list`);
  return value as unknown[];
}
