import type { FlagTable } from './flags.ts';

/** Minor versions in which a program has a flag. */
export interface FlagLife {
  /** first version with the flag */
  readonly since?: number;
  /** first version without the flag */
  readonly until?: number;
}

/** Returns the flags of a program's release; all flags if the version is unknown. */
export function ofRelease(
  table: FlagTable,
  lives: Readonly<Record<string, FlagLife>>,
  version: string | undefined,
): FlagTable {
  const minor = Number(/^v?1\.(\d+)/.exec(version ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(minor)) return table;
  const isKnown = (name: string): boolean => {
    const { since = 0, until = Number.POSITIVE_INFINITY } = lives[name] ?? {};
    return minor >= since && minor < until;
  };
  return {
    ...table,
    valued: new Set([...table.valued].filter(isKnown)),
    switches: new Set([...table.switches].filter(isKnown)),
  };
}

/** Flags of kube-apiserver that were added or removed by a release. */
export const apiServerFlagLives: Readonly<Record<string, FlagLife>> = {
  'cloud-provider': { until: 33 },
  'cloud-config': { until: 33 },
  'authentication-config': { since: 29 },
  'authorization-config': { since: 29 },
  'emulated-version': { since: 31 },
  'coordinated-leadership-lease-duration': { since: 31 },
  'coordinated-leadership-renew-deadline': { since: 31 },
  'coordinated-leadership-retry-period': { since: 31 },
  'requestheader-uid-headers': { since: 32 },
  'service-account-signing-endpoint': { since: 32 },
  'peer-advertise-ip': { since: 28 },
  'peer-advertise-port': { since: 28 },
  'peer-ca-file': { since: 28 },
};

/** Flags of kube-controller-manager and kube-scheduler that were added by a release. */
export const componentFlagLives: Readonly<Record<string, FlagLife>> = {
  'emulated-version': { since: 31 },
};
