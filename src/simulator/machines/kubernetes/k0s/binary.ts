import { k0sVersionOf, parseK0sVersion } from '../../../../api/index.ts';
import { simulatedBinary } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';

const newest = 'v1.34.1+k0s.0';
/** image property with the version of the installed k0s */
const imageProperty = 'capstan_k0s';
const mark = /^#!simulated k0s (\S+)/;

/** Finds the k0s installed on a machine, or undefined. */
export function installedK0s({ disk, server }: RunningMachine): { path: string; version: string } | undefined {
  for (const path of ['/usr/local/bin/k0s', ...disk.list('/').filter((each) => each.endsWith('/k0s'))]) {
    const version = mark.exec(disk.read(path) ?? '')?.[1];
    if (version !== undefined) return { path, version: k0sVersionOf(version) };
  }
  const { image } = server;
  const property = image?.properties[imageProperty];
  const inName = /k0s[-_]?(v?\d+\.\d+\.\d+\S*)/.exec(image?.name ?? '')?.[1];
  const version = property ?? inName;
  return version === undefined ? undefined : { path: '/usr/local/bin/k0s', version: k0sVersionOf(version) };
}

/** Serves downloads of the k0s installer, and of k0s from any host. */
export function downloadK0s(url: URL): string | undefined {
  if (url.hostname === 'get.k0s.sh') return installer;
  const file = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
  if (!/^k0s(?:$|[-_.])/.test(file)) return undefined;
  const version = /(?<![\d.])v?\d+\.\d+\.\d+(?:[+-]k0s\.\d+)?/.exec(decodeURIComponent(url.pathname))?.[0];
  return simulatedBinary('k0s', version !== undefined && parseK0sVersion(version) ? k0sVersionOf(version) : newest);
}

const installer = `#!/bin/sh
set -e
if [ -n "$DEBUG" ]; then set -x; fi
k0sInstallPath=\${K0S_INSTALL_PATH:-/usr/local/bin}
k0sVersion=\${K0S_VERSION:-${newest}}
case "$k0sVersion" in
  v[0-9]*.[0-9]*.[0-9]*) ;;
  *) echo "curl: (22) The requested URL returned error: 404" >&2; exit 22 ;;
esac
echo "Downloading k0s $k0sVersion"
mkdir -p "$k0sInstallPath"
echo "#!simulated k0s $k0sVersion" > "$k0sInstallPath/k0s"
chmod 755 "$k0sInstallPath/k0s"
echo "k0s is now executable in $k0sInstallPath"
`;
