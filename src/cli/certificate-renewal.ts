import type { Clock } from '../machinery/index.ts';
import type { ServerPki } from '../pki/index.ts';
import type { Logger } from '../runtime/index.ts';

/** Certificates end months after they are renewed, and addresses of the host change now and then: an hour is soon enough. */
const intervalMs = 60 * 60_000;

/** Looks after the certificates of a running server: renewed ones are used at once, without a restart. */
export function renewCertificates(options: {
  clock: Clock;
  log: Logger;
  current: ServerPki;
  /** loads them, makes what is missing and renews what ends soon or lacks a name */
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
