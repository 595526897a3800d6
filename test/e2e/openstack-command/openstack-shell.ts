import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The real `openstack` command in interactive mode: one process for many commands, because its start takes much longer
 * than a command. Two marker commands follow each command, one for each of its outputs.
 */
export class OpenStackShell {
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #count = 0;
  #wake: () => void = () => {};
  #ended: string | undefined;

  constructor(command: string, options: { cwd: string; env: Record<string, string> }) {
    this.#child = spawn(command, [], {
      cwd: options.cwd,
      env: { ...options.env, PYTHONUNBUFFERED: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#wake();
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#wake();
    });
    // Writing to an exited program fails. The error that `run` throws contains its output.
    this.#child.stdin!.on('error', () => {});
    this.#child.once('close', (code) => {
      this.#ended = `it ended with exit code ${code}`;
      this.#wake();
    });
    this.#child.once('error', (error) => {
      this.#ended = error.message;
      this.#wake();
    });
  }

  /** Runs one command and returns its output. Rejects with its error output. */
  async run(...args: readonly string[]): Promise<string> {
    const number = ++this.#count;
    // Its shell splits at blanks and does not support quotes.
    if (args.some((word) => /[\s'"]/.test(word))) throw new Error(`cannot be typed: ${args.join(' ')}`);
    const line = args.join(' ');
    const outMark = `mark${number}_region_name=`;
    const errorMark = `mark-${number}-`;
    this.#child.stdin!.write(
      `${line}\nnetwork show ${errorMark} -f json\nconfiguration show -f shell --prefix mark${number}_ -c region_name\n`,
    );
    while (!(this.#stdout.includes(outMark) && this.#stderr.includes(errorMark))) {
      if (this.#ended !== undefined)
        throw new Error(`openstack ${line}: ${this.#ended}\n${this.#stderr}\n${this.#stdout}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const output = this.#stdout.slice(0, this.#stdout.indexOf(outMark));
    const lines = this.#stderr.slice(0, this.#stderr.indexOf(errorMark)).split('\n');
    // The last line is the beginning of the error for the marker.
    lines.pop();
    this.#stdout = this.#stdout.slice(this.#stdout.indexOf('\n', this.#stdout.indexOf(outMark)) + 1);
    this.#stderr = this.#stderr.slice(this.#stderr.indexOf('\n', this.#stderr.indexOf(errorMark)) + 1);
    const complaint = lines.join('\n').trim();
    if (complaint !== '') throw new Error(`openstack ${line}: ${complaint}\n${output}`);
    return output;
  }

  async json<T = Record<string, unknown>>(...args: readonly string[]): Promise<T> {
    const text = await this.run(...args, '-f', 'json');
    try {
      // Commands that wait print their progress first.
      return JSON.parse(text.slice(text.search(/[[{]/))) as T;
    } catch (cause) {
      throw new Error(`openstack ${args.join(' ')} did not print JSON: ${text}`, { cause });
    }
  }

  /** names in the list */
  async names(...args: readonly string[]): Promise<string[]> {
    const rows = await this.json<{ Name?: string; name?: string }[]>(...args);
    return rows.map(({ Name, name }) => Name ?? name ?? '');
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 15_000);
    await closed;
    clearTimeout(timer);
  }
}
