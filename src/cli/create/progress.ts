import type { CommandContext } from '../context.ts';

const mib = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

/** Shows how far an upload is: on a terminal in place, ten times a second at most; elsewhere not at all. */
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
