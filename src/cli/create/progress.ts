import type { CommandContext } from '../context.ts';

const mib = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

/** Shows the progress of an upload on a terminal, at most ten times a second; nothing elsewhere. */
export function showProgress({ progress, clock }: CommandContext): (sent: number, total: number) => void {
  if (!progress) return () => {};
  let next = 0;
  return (sent, total) => {
    const now = clock.monotonic();
    if (now < next && sent < total) return;
    next = now + 100;
    const percent = total === 0 ? 100 : Math.floor((sent / total) * 100);
    progress(`uploaded ${mib(sent)} of ${mib(total)} (${percent} %)`);
    if (sent >= total) progress('');
  };
}
