import { Gauge, type Registry } from 'prom-client';
import type { ObjectKey } from '../../../client/index.ts';
import type { CertificateReport } from './types.ts';

const name = 'capstan_hosted_plane_certificate_expiry_seconds';

/** Exposes the expiry of plane certificates as metrics. */
export interface PlaneMetrics {
  show(plane: ObjectKey, reports: readonly CertificateReport[]): void;
  forget(plane: ObjectKey): void;
}

export function planeMetrics(registry: Registry | undefined): PlaneMetrics {
  if (!registry) return { show() {}, forget() {} };
  // controllers of several kinds share one registry
  const known = registry.getSingleMetric(name) as Gauge<'namespace' | 'name' | 'credential'> | undefined;
  const gauge =
    known ??
    new Gauge({
      name,
      help: 'End of the certificates of hosted control planes, in seconds since the epoch',
      labelNames: ['namespace', 'name', 'credential'] as const,
      registers: [registry],
    });
  const shown = new Map<string, Set<string>>();
  const labelsOf = ({ namespace = '', name: plane }: ObjectKey, credential: string) => ({
    namespace,
    name: plane,
    credential,
  });
  const idOf = ({ namespace = '', name: plane }: ObjectKey): string => `${namespace}/${plane}`;
  const forget = (plane: ObjectKey): void => {
    for (const credential of shown.get(idOf(plane)) ?? []) gauge.remove(labelsOf(plane, credential));
    shown.delete(idOf(plane));
  };
  return {
    show(plane, reports) {
      const names = new Set<string>(reports.map(({ credential }) => credential));
      const before = shown.get(idOf(plane));
      if (before && [...before].some((credential) => !names.has(credential))) forget(plane);
      for (const { credential, expiresAt } of reports) gauge.set(labelsOf(plane, credential), expiresAt / 1000);
      shown.set(idOf(plane), names);
    },
    forget,
  };
}
