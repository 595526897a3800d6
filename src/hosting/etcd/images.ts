import { formatImage, parseImage } from '../../api/index.ts';

/** One release of each minor version of etcd 3, as stop of a stepwise upgrade. */
const stations: Readonly<Record<number, string>> = { 4: '3.4.37', 5: '3.5.21', 6: '3.6.5', 7: '3.7.1' };

interface EtcdVersion {
  readonly minor: number;
  readonly text: string;
}

/** Parses tags: `v3.5.13` and `3.6.5-0` give minor versions 5 and 6; undefined for tags without a version. */
export function etcdVersion(tagOrVersion: string | undefined): EtcdVersion | undefined {
  const match = /^v?(3)\.(\d+)\.(\d+)/.exec(tagOrVersion ?? '');
  return match ? { minor: Number(match[2]), text: match[0].replace(/^v/, '') } : undefined;
}

export type EtcdImageStep = { readonly image: string } | { readonly problem: string };

/**
 * Returns the next image of an upgrade: at most one minor version further, never back. An image without a version is
 * used as it is.
 */
export function nextEtcdImage(running: string, wanted: string): EtcdImageStep {
  const from = etcdVersion(parseImage(running).tag);
  const reference = parseImage(wanted);
  const to = etcdVersion(reference.tag);
  if (!from || !to || to.minor === from.minor || to.minor === from.minor + 1) return { image: wanted };
  if (to.minor < from.minor) {
    return { problem: `etcd cannot go back from ${from.text} to ${to.text}; set an image of 3.${from.minor} or newer` };
  }
  const station = stations[from.minor + 1];
  if (station === undefined) {
    return {
      problem: `no release of etcd 3.${from.minor + 1} is known to pass through on the way to ${to.text}; set one`,
    };
  }
  // keep the leading v and the suffix of the tag, which differ between registries
  const suffix = /^v?\d+\.\d+\.\d+(.*)$/.exec(reference.tag ?? '')?.[1] ?? '';
  const tag = `${reference.tag?.startsWith('v') ? 'v' : ''}${station}${suffix}`;
  return { image: formatImage({ repository: reference.repository, tag }) };
}
