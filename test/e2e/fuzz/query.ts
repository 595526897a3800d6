import type { Dice } from '../../support/rough/dice.ts';

export const accepts: readonly string[] = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/yaml',
  'application/json;as=constructor;v=v1;g=meta.k8s.io',
  'application/cbor',
  'constructor',
  '__proto__',
  'toString',
  '*/*;q=0',
  '*/*',
  'text/html,application/xhtml+xml,*/*;q=0.8',
  `${'application/json,'.repeat(500)}x/y`,
  ';q=1',
  'application/json;q=abc;as',
];

const selectors = [
  'app=a',
  'app==a,x!=b',
  'app in (a,b)',
  'app notin ()',
  '!app',
  'a in (',
  '=',
  ',,',
  'constructor=x',
  '__proto__',
  'a>5',
  'a<x',
  'a/b/c=d',
  `${'a=b,'.repeat(2000)}a=b`,
  'metadata.name=n1',
  'metadata.name!=n1,metadata.namespace=fuzz-a',
  'metadata.name=a\\,b',
  'spec.nodeName=x',
  'status.phase=Running',
  'constructor=constructor',
  'toString!=x',
  'metadata.constructor=x',
  'é=ü',
  '\u0000',
];

function continueToken(dice: Dice): string {
  const start = dice.pick<unknown>(['', 'fuzz-a/n1', '../x', '\u0000', 'zzz/\uffff', 5, null, { a: 1 }]);
  const rv = dice.pick<unknown>([1, 0, -1, 50, 99_999_999, 1e300, 1.5, '7', null, -999]);
  const token = { v: dice.pick<unknown>(['meta.k8s.io/v1', 'meta.k8s.io/v1', 'x', null]), rv, start };
  return dice.chance(0.85) ? Buffer.from(JSON.stringify(token)).toString('base64url') : dice.weirdText(30);
}

/** Builds valid and invalid parameters of a list or watch. */
export function listQuery(dice: Dice): string {
  const parts: string[] = [];
  const add = (name: string, value: string): void => {
    parts.push(`${name}=${encodeURIComponent(wellFormed(value))}`);
  };
  if (dice.chance(0.3)) add('labelSelector', dice.pick(selectors));
  if (dice.chance(0.3)) add('fieldSelector', dice.pick(selectors));
  if (dice.chance(0.3)) add('limit', dice.pick(['1', '2', '500', '0', '-1', '9'.repeat(15), '9'.repeat(30), 'x']));
  if (dice.chance(0.3)) add('continue', continueToken(dice));
  if (dice.chance(0.3))
    add('resourceVersion', dice.pick(['0', '1', '5', '300', '99999999', '-1', 'x', '1e3', '9'.repeat(25)]));
  if (dice.chance(0.2)) add('resourceVersionMatch', dice.pick(['Exact', 'NotOlderThan', 'x', '']));
  if (dice.chance(0.25)) {
    add('watch', dice.pick(['true', '1', '', 'false', 'x']));
    if (dice.chance(0.5)) add('timeoutSeconds', dice.pick(['1', '0', '-5', '9'.repeat(12), 'x']));
    if (dice.chance(0.3)) add('allowWatchBookmarks', dice.pick(['true', 'x']));
    if (dice.chance(0.3)) add('sendInitialEvents', dice.pick(['true', 'false']));
  }
  return parts.join('&');
}

/** Replaces lone surrogates, which a URL cannot contain. */
export function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

const parameters = [
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'pretty',
  'limit',
  'continue',
  'labelSelector',
  'fieldSelector',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'includeObject',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'timeout',
  'exclude',
  'verbose',
  'hash',
  'tailLines',
  'follow',
  'constructor',
  '__proto__',
];
const parameterValues = [
  '',
  'true',
  'false',
  'All',
  'all',
  'Strict',
  'Warn',
  'Ignore',
  'Orphan',
  'Foreground',
  'Background',
  'None',
  'Object',
  'Metadata',
  '0',
  '-1',
  '1e9',
  '99999999999999999999',
  'x',
  '%',
  '%zz',
  '%ff%fe',
  '%00',
  'a'.repeat(200),
  '{}',
  '[]',
  'null',
];

/** Builds parameters of other requests, with wrong values. */
export function wrongQuery(dice: Dice): string {
  const parts: string[] = [];
  for (let i = dice.between(1, 3); i > 0; i--) parts.push(`${dice.pick(parameters)}=${dice.pick(parameterValues)}`);
  return parts.join('&');
}
