import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The real `openstack` command in its interactive mode: one process for many commands, because loading the program takes
 * far longer than any of them. Each command is followed by two that leave a mark, one on each of its outputs.
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
    // A program that has ended takes no input; what it said is in the error that `run` throws.
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

  /** Runs one command and gives what it printed; rejects with what it complained about. */
  async run(...args: readonly string[]): Promise<string> {
    const number = ++this.#count;
    // Its own shell splits at blanks and knows no quotes.
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
    // The last line is the beginning of the complaint about the mark.
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
      // What waits prints its progress first.
      return JSON.parse(text.slice(text.search(/[[{]/))) as T;
    } catch (cause) {
      throw new Error(`openstack ${args.join(' ')} did not print JSON: ${text}`, { cause });
    }
  }

  /** the names in a list */
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
