import { Refusal } from '../refusal.ts';
import type { Microversions } from '../service.ts';
import type { RequestContext } from './context.ts';

export interface Negotiated {
  readonly minor: number;
  readonly refusal?: Refusal;
}

const none: Negotiated = { minor: 0 };
/** cache of negotiated headers, because clients repeat them */
const known = new WeakMap<Microversions, Map<string, Negotiated>>();
const mostKnown = 1000;

/** Determines the microversion of a request: the requested one, `latest`, or the oldest. */
export function negotiate(versions: Microversions, context: RequestContext): Negotiated {
  if (!context.path.startsWith(versions.below)) return none;
  const header = context.headers['openstack-api-version'] ?? '';
  const legacy = versions.legacyHeader === undefined ? '' : (context.headers[versions.legacyHeader] ?? '');
  const key = `${header}\n${legacy}`;
  let ofService = known.get(versions);
  if (!ofService || ofService.size > mostKnown) {
    ofService = new Map();
    known.set(versions, ofService);
  }
  let negotiated = ofService.get(key);
  if (!negotiated) {
    negotiated = read(versions, askedFor(versions, header, legacy));
    ofService.set(key, negotiated);
  }
  return negotiated;
}

function read(versions: Microversions, asked: string | undefined): Negotiated {
  const oldest = versions.major === 2 ? 1 : 0;
  if (asked === undefined) return { minor: oldest };
  if (asked === 'latest') return { minor: versions.max };
  const parts = /^([1-9]\d*)\.([1-9]\d*|0)$/.exec(asked);
  if (!parts) {
    const message = `API Version String ${asked} is of invalid format. Must be of format MajorNum.MinorNum.`;
    return { minor: -1, refusal: new Refusal(400, message) };
  }
  const minor = Number(parts[2]);
  if (Number(parts[1]) !== versions.major || minor < oldest || minor > versions.max) {
    const { major, max } = versions;
    const message = `Version ${asked} is not supported by the API. Minimum is ${major}.${oldest} and maximum is ${major}.${max}.`;
    return { minor, refusal: new Refusal(406, message) };
  }
  return { minor };
}

/** Returns the requested version. The header names its service, and other services ignore it. */
function askedFor(versions: Microversions, header: string, legacy: string): string | undefined {
  for (const part of header.split(',')) {
    const [service, version] = part.trim().split(/\s+/);
    if (service?.toLowerCase() === versions.serviceType) return version?.toLowerCase() ?? '';
  }
  return legacy === '' ? undefined : legacy.trim().toLowerCase();
}
