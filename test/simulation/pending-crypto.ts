// Must be imported before anything that generates keys. Keys and signatures are computed on other threads in real time.
// If a simulated clock advanced meanwhile, runs of a seed would not be reproducible.
import crypto, { webcrypto } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';

let pending = 0;

/** Number of keys and signatures being computed. */
export function pendingCrypto(): number {
  return pending;
}

async function counted<T>(work: Promise<T>): Promise<T> {
  pending++;
  try {
    return await work;
  } finally {
    pending--;
  }
}

const generate = promisify(crypto.generateKeyPair) as (...args: unknown[]) => Promise<unknown>;
const original = crypto.generateKeyPair;
const patched = Object.assign((...args: unknown[]) => (original as (...args: unknown[]) => void)(...args), {
  [promisify.custom]: (...args: unknown[]) => counted(generate(...args)),
});
Object.assign(crypto, { generateKeyPair: patched });
syncBuiltinESMExports();

const prototype = Object.getPrototypeOf(webcrypto.subtle) as Record<string, (...args: unknown[]) => Promise<unknown>>;
for (const name of ['sign', 'verify', 'digest', 'generateKey', 'importKey', 'exportKey']) {
  const method = prototype[name]!;
  prototype[name] = function (this: unknown, ...args: unknown[]) {
    return counted(method.apply(this, args));
  };
}
