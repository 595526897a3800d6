import type { HostedMachine } from '../../host/running-machine.ts';
import { type CloudConfig, pythonType } from './config.ts';

/** What a module works with. */
export interface ModuleContext {
  readonly machine: HostedMachine;
  readonly cloudConfig: CloudConfig;
  /** a line of cloud-init's log that reaches the console: `file.py[LEVEL]: words` */
  warn(text: string): void;
  /** Runs a script and gives its exit status. */
  script(path: string, text: string): Promise<number>;
}

/** A module failed; cloud-init goes on with the next one. */
export class ModuleError extends Error {}

export type Module = (context: ModuleContext) => Promise<void> | void;

/** A word for a shell. */
export function quoted(word: unknown): string {
  return `'${String(word).replaceAll("'", `'\\''`)}'`;
}

export function listOf(context: ModuleContext, key: string): readonly unknown[] | undefined {
  const value = context.cloudConfig.config[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw new ModuleError(`${key} is ${pythonType(value)}, not a list`);
  return value as unknown[];
}
