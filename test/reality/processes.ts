import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { describeOutcome, runProcess } from '../support/process.ts';

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly child: ChildProcess;
}

/** Background programs, each with a log file. They end with their namespace. */
export class Processes {
  readonly #logs: string;
  readonly #running = new Map<string, Program>();

  private constructor(logs: string) {
    this.#logs = logs;
  }

  static async below(directory: string): Promise<Processes> {
    const logs = join(directory, 'logs');
    await mkdir(logs, { recursive: true });
    return new Processes(logs);
  }

  async start(name: string, file: string, args: readonly string[]): Promise<void> {
    const log = await open(join(this.#logs, `${name}.log`), 'a');
    const child = spawn(file, args, { stdio: ['ignore', log.fd, log.fd] });
    child.on('error', () => {});
    this.#running.set(name, { file, args, child });
    await log.close();
  }

  /** Kills a program, and returns a function that starts it again with the same arguments. */
  async kill(name: string): Promise<() => Promise<void>> {
    const program = this.#running.get(name);
    if (!program) throw new Error(`${name} was not started`);
    const { file, args, child } = program;
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    return () => this.start(name, file, args);
  }

  /** Waits until the check succeeds. Fails at once if the program exits. */
  async until(name: string, check: () => Promise<void>, timeoutMs = 60_000): Promise<void> {
    let ended = false;
    try {
      await eventually(async () => {
        ended = this.#running.get(name)?.child.exitCode !== null;
        if (!ended) await check();
      }, timeoutMs);
    } catch (error) {
      throw new Error(`${name} does not work: ${await this.lastWords(name)}`, { cause: error });
    }
    if (ended) throw new Error(`${name} ended: ${await this.lastWords(name)}`);
  }

  async lastWords(name: string): Promise<string> {
    const text = await readFile(join(this.#logs, `${name}.log`), 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-5).join('\n');
  }
}

/** Runs a command that must succeed, and returns its output. */
export async function command(file: string, ...args: string[]): Promise<string> {
  const outcome = await runProcess(file, args);
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  return outcome.stdout;
}
