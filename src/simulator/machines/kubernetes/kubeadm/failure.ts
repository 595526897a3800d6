/** A kubeadm failure. `message` is the text after "error execution phase …". */
export class KubeadmFailure extends Error {
  /** undefined: it failed before the first phase */
  readonly phase: string | undefined;
  readonly exitCode: number;

  constructor(phase: string | undefined, message: string, exitCode = 1) {
    super(message);
    this.name = 'KubeadmFailure';
    this.phase = phase;
    this.exitCode = exitCode;
  }

  /** Returns the last lines on the console. */
  text(): string {
    const head = this.phase === undefined ? this.message : `error execution phase ${this.phase}: ${this.message}`;
    return `${head}\nTo see the stack trace of this error execute with --v=5 or higher\n`;
  }
}
