import { errorMessage } from '../../machinery/index.ts';
import { type CertificateAndKey, isMatchingPair } from '../../pki/index.ts';
import type { SimulatedProcess, SimulatedProgram } from '../process.ts';
import { ProgramFailure } from './failure.ts';

/** What a program had opened while it ran, closed at its end in the opposite order. */
export class Closing {
  readonly #ends: (() => void)[] = [];

  add(end: () => void): void {
    this.#ends.push(end);
  }

  close(): void {
    for (const end of this.#ends.splice(0).reverse()) end();
  }
}

/** Makes a program of what it does: says why it fails, ends with 0 when it was told to end, and leaves nothing open. */
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

/** resolves when the program is to end */
export function untilStopped({ signal }: SimulatedProcess): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A file that must be there; throws in Go's words. */
export function requiredFile({ files }: SimulatedProcess, path: string, failure: (reason: string) => Error): string {
  const content = files.read(path);
  if (content === undefined) throw failure(`open ${path}: no such file or directory`);
  return content;
}

/** How long something takes: between the two. */
export function between({ random }: SimulatedProcess, fromMs: number, toMs: number): number {
  return fromMs + Math.floor(random.next() * (toMs - fromMs));
}

/** A certificate that follows its files: what is renewed there is used from then on, what is broken there is not. */
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
