import type { Clock } from '../machinery/index.ts';
import type { ServerPki } from '../pki/index.ts';
import type { Logger } from '../runtime/index.ts';

/** Certificates are renewed months before they expire and host addresses rarely change, so hourly checks are enough. */
const intervalMs = 60 * 60_000;

/** Renews the certificates of a running server; new ones are used at once without a restart. */
export function renewCertificates(options: {
  clock: Clock;
  log: Logger;
  current: ServerPki;
  /** loads certificates, creates missing ones, and renews those that expire soon or lack a name */
  ensure(): Promise<ServerPki>;
  onRenewed(pki: ServerPki): void | Promise<void>;
}): () => void {
  const { clock, log } = options;
  let { current } = options;
  let stopped = false;
  let cancel = (): void => {};
  const look = async (): Promise<void> => {
    try {
      const next = await options.ensure();
      const isNew =
        next.server.certificate !== current.server.certificate || next.admin.certificate !== current.admin.certificate;
      if (isNew && !stopped) {
        await options.onRenewed(next);
        current = next;
        log.info('Certificates renewed', { written: next.written.length });
      }
    } catch (error) {
      log.error('Certificates could not be renewed', { error });
    }
    if (!stopped) cancel = clock.after(intervalMs, () => void look());
  };
  cancel = clock.after(intervalMs, () => void look());
  return () => {
    stopped = true;
    cancel();
  };
}
