import type { RunningMachine } from '../../types.ts';

const newest = 'v1.34.2+rke2r1';
const binary = '/usr/local/bin/rke2';
const mark = /^#!simulated rke2 (\S+)/;

/** Returns the rke2 release installed on a machine, or undefined. */
export function installedRke2({ disk }: RunningMachine): string | undefined {
  return mark.exec(disk.read(binary) ?? '')?.[1];
}

/** Serves the download of the rke2 installer. */
export function downloadRke2(url: URL): string | undefined {
  return url.hostname === 'get.rke2.io' ? installer : undefined;
}

const unit = (role: string): string =>
  [
    '[Unit]',
    `Description=Rancher Kubernetes Engine v2 (${role})`,
    'Wants=network-online.target',
    'After=network-online.target',
    '[Install]',
    'WantedBy=multi-user.target',
    '[Service]',
    'Type=notify',
    'Restart=always',
    'RestartSec=5s',
    `ExecStart=${binary} ${role}`,
  ].join('\\n');

/** Installs rke2 from the network, or from given artifacts. */
const installer = `#!/bin/sh
set -e
type=\${INSTALL_RKE2_TYPE:-server}
if [ -n "$1" ] && [ "$1" != "-" ]; then type="$1"; fi
version=\${INSTALL_RKE2_VERSION:-${newest}}
if [ -n "$INSTALL_RKE2_ARTIFACT_PATH" ]; then
  if [ ! -f "$INSTALL_RKE2_ARTIFACT_PATH/version" ]; then
    echo "[ERROR]  rke2 artifacts were not found in $INSTALL_RKE2_ARTIFACT_PATH" >&2
    exit 1
  fi
  version=$(cat "$INSTALL_RKE2_ARTIFACT_PATH/version")
fi
case "$version" in
  v1.[12][0-9].[0-9]*+rke2r[0-9]*|v1.3[0-5].[0-9]*+rke2r[0-9]*) ;;
  *) echo "[ERROR]  failed to download rke2 $version: curl: (22) The requested URL returned error: 404" >&2; exit 1 ;;
esac
case "$type" in
  server|agent) ;;
  *) echo "[ERROR]  unknown INSTALL_RKE2_TYPE $type" >&2; exit 1 ;;
esac
echo "[INFO]  using $version as release"
mkdir -p /usr/local/bin /usr/local/lib/systemd/system /usr/local/share/rke2
echo "#!simulated rke2 $version" > ${binary}
chmod 755 ${binary}
printf '${unit('server')}\\n' > /usr/local/lib/systemd/system/rke2-server.service
printf '${unit('agent')}\\n' > /usr/local/lib/systemd/system/rke2-agent.service
echo "vm.panic_on_oom=0" > /usr/local/share/rke2/rke2-cis-sysctl.conf
`;
