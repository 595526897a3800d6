import { isSnapshotName, parseKubernetesVersion, type RKE2AgentConfig, restoreAnnotation } from '../../../api/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { filePaths } from './paths.ts';

export type MachineRole = 'server' | 'agent';

const installerUrl = 'https://get.rke2.io';
/** The bootstrap success sentinel of the Cluster API contract. */
const sentinel = 'mkdir -p /run/cluster-api && echo success > /run/cluster-api/bootstrap-success.complete';

const otherRole = (role: MachineRole): MachineRole => (role === 'server' ? 'agent' : 'server');

/** Commands that install rke2 from the network or from artifacts in the image. */
export function installCommands(role: MachineRole, version: string, agent: RKE2AgentConfig): string[] {
  const { artifacts, airGappedInstaller, cisScript } = filePaths;
  const check = `test "$(sha256sum ${artifacts}/sha256sum*.txt | cut -d ' ' -f 1)" = "${agent.airGappedChecksum ?? ''}"`;
  return [
    ...(agent.airGapped === true && agent.airGappedChecksum
      ? [`${check} || { echo "the checksums of the artifacts in ${artifacts} are not the expected ones"; exit 1; }`]
      : []),
    agent.airGapped === true
      ? `INSTALL_RKE2_ARTIFACT_PATH=${artifacts} INSTALL_RKE2_TYPE="${role}" sh ${airGappedInstaller}`
      : `curl -sfL ${installerUrl} | INSTALL_RKE2_VERSION="${version}" INSTALL_RKE2_TYPE="${role}" sh -s -`,
    ...(agent.cisProfile ? [cisScript] : []),
  ];
}

/** Commands that replace the data of etcd by a snapshot. Without it, rke2 must not start: it would make an empty cluster. */
export function restoreCommands(snapshot: string | undefined): string[] {
  if (snapshot === undefined) return [];
  if (!isSnapshotName(snapshot)) {
    throw new BootstrapInputError(`the annotation ${restoreAnnotation} of the RKE2ControlPlane names no snapshot`);
  }
  // The installer chooses the directory of rke2 by the file system, and Ignition sets a short PATH.
  const reset = `PATH="$PATH:/usr/local/bin:/opt/rke2/bin" rke2 server --cluster-reset --cluster-reset-restore-path=${snapshot}`;
  return [`${reset} || { echo "the snapshot ${snapshot} was not restored: see the lines above"; exit 1; }`];
}

/** Commands that start rke2 and write the sentinel once it runs. */
export function startCommands(role: MachineRole): string[] {
  return [
    `systemctl mask rke2-${otherRole(role)}.service || true`,
    `systemctl enable rke2-${role}.service`,
    `systemctl start rke2-${role}.service && ${sentinel}`,
  ];
}

/** Minor version that replaced the older CIS profiles by newer ones. */
const newProfilesMinor = 25;

/** Refuses a CIS profile unknown to the rke2 release; rke2 would not start. */
export function refuseUnknownProfile(version: string, { cisProfile }: RKE2AgentConfig): void {
  if (!cisProfile) return;
  const minor = parseKubernetesVersion(version)?.minor ?? newProfilesMinor;
  const isOld = cisProfile === 'cis-1.5' || cisProfile === 'cis-1.6';
  if (isOld === minor < newProfilesMinor) return;
  throw new BootstrapInputError(
    `spec.agentConfig.cisProfile: rke2 ${version} does not know the profile ${cisProfile}; write ${isOld ? 'cis' : 'cis-1.6'}`,
  );
}

/** Prepares the machine for a CIS profile: creates the etcd user and applies the sysctl settings shipped with rke2. */
export const cisScriptText: string = [
  '#!/bin/sh',
  'set -e',
  'id etcd >/dev/null 2>&1 || useradd -r -c "etcd user" -s /sbin/nologin -M etcd -U',
  'for directory in /usr/share/rke2 /usr/local/share/rke2 /opt/rke2/share/rke2; do',
  '  if [ -f "$directory/rke2-cis-sysctl.conf" ]; then',
  '    cp -f "$directory/rke2-cis-sysctl.conf" /etc/sysctl.d/90-rke2-cis.conf',
  '    sysctl -p /etc/sysctl.d/90-rke2-cis.conf',
  '    exit 0',
  '  fi',
  'done',
  'echo "rke2-cis-sysctl.conf was not found: is rke2 installed?"',
  'exit 1',
  '',
].join('\n');
