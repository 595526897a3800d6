import type { Random } from '../../machinery/index.ts';

/** Where ids come from: the same seed gives the same ids in the same order. */
export interface Ids {
  /** of every service but keystone */
  uuid(): string;
  /** Makes this the next uuid that is given out: for worlds in which something has a known id. */
  next(uuid: string): void;
  /** keystone's: 32 hex digits */
  hex(): string;
  requestId(): string;
  /** `length` characters for secrets and tokens */
  secret(length: number): string;
  mac(): string;
}

const secretAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function createIds(random: Random): Ids {
  const chosen: string[] = [];
  return {
    uuid: () => chosen.shift() ?? random.uuid(),
    next: (uuid) => void chosen.push(uuid),
    hex: () => random.uuid().replaceAll('-', ''),
    requestId: () => `req-${random.uuid()}`,
    secret: (length) => random.text(length, secretAlphabet),
    mac: () => {
      const tail = random.text(6, '0123456789abcdef');
      return `fa:16:3e:${tail.slice(0, 2)}:${tail.slice(2, 4)}:${tail.slice(4)}`;
    },
  };
}
