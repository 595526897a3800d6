import type { Disk } from '../../types.ts';
import { type ControlPlaneComponent, paths } from '../kubeadm/names.ts';
import { rke2DataDirectory } from '../rke2/paths.ts';

/** Files of a machine's control plane. */
export interface ControlPlaneLayout {
  /** directory of static Pods */
  readonly manifests: string;
  /** identifies the etcd cluster and the member of the data on this disk */
  readonly etcdData: string;
  readonly isOfRke2: boolean;
}

const ofKubeadm: ControlPlaneLayout = { manifests: paths.manifests, etcdData: paths.etcdData, isOfRke2: false };

/** Returns the layout of kubeadm, or of rke2 if the machine is configured for it. */
export function layoutOf(disk: Disk): ControlPlaneLayout {
  const directory = rke2DataDirectory(disk);
  if (directory === undefined) return ofKubeadm;
  return {
    manifests: `${directory}/agent/pod-manifests`,
    etcdData: `${directory}/server/db/etcd/member/snap/db`,
    isOfRke2: true,
  };
}

export const staticPodPath = ({ manifests }: ControlPlaneLayout, component: ControlPlaneComponent): string =>
  `${manifests}/${component}.yaml`;
