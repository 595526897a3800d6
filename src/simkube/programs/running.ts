import { errorMessage } from '../../machinery/index.ts';
import { type CertificateAndKey, isMatchingPair } from '../../pki/index.ts';
import type { SimulatedProcess, SimulatedProgram } from '../process.ts';
import { ProgramFailure } from './failure.ts';

/** Resources that a program opened, closed at its end in reverse order. */
export class Closing {
  readonly #ends: (() => void)[] = [];

  add(end: () => void): void {
    this.#ends.push(end);
  }

  close(): void {
    for (const end of this.#ends.splice(0).reverse()) end();
  }
}

/** Builds a program: logs the reason of a failure, exits with 0 when stopped, and closes all resources. */
export function program(work: (process: SimulatedProcess, closing: Closing) => Promise<number>): SimulatedProgram {
  return async (process) => {
    const closing = new Closing();
    try {
      return await work(process, closing);
    } catch (error) {
      if (process.signal.aborted) return 0;
      if (!(error instanceof ProgramFailure)) {
        process.log(`panic: ${errorMessage(error)}`);
        return 2;
      }
      if (error.message !== '') for (const line of error.message.split('\n')) process.log(line);
      return error.exitCode;
    } finally {
      closing.close();
    }
  };
}

/** Resolves when the program must exit. */
export function untilStopped({ signal }: SimulatedProcess): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Reads a required file. Throws in Go's words. */
export function requiredFile({ files }: SimulatedProcess, path: string, failure: (reason: string) => Error): string {
  const content = files.read(path);
  if (content === undefined) throw failure(`open ${path}: no such file or directory`);
  return content;
}

/** Returns a random duration between the two limits. */
export function between({ random }: SimulatedProcess, fromMs: number, toMs: number): number {
  return fromMs + Math.floor(random.next() * (toMs - fromMs));
}

/** Certificate and key that follow their files: a renewed pair is used, an invalid one is ignored. */
export function followedPair(
  { files }: SimulatedProcess,
  paths: { readonly certificate: string; readonly privateKey: string },
  first: CertificateAndKey,
): Readonly<CertificateAndKey> {
  let current = first;
  let seen = first.certificate;
  const look = (): CertificateAndKey => {
    const certificate = files.read(paths.certificate);
    if (certificate === undefined || certificate === seen) return current;
    const privateKey = files.read(paths.privateKey);
    if (privateKey === undefined || !isMatchingPair(certificate, privateKey)) return current;
    seen = certificate;
    current = { certificate, privateKey };
    return current;
  };
  return {
    get certificate() {
      return look().certificate;
    },
    get privateKey() {
      return look().privateKey;
    },
  };
}
