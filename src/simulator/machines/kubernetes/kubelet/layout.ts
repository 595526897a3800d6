import type { Disk } from '../../types.ts';
import { type ControlPlaneComponent, paths } from '../kubeadm/names.ts';
import { rke2DataDirectory } from '../rke2/paths.ts';

/** Where the control plane of a machine lies on its disk. */
export interface ControlPlaneLayout {
  /** directory of static Pods */
  readonly manifests: string;
  /** says which etcd cluster, and which member of it, the data on this disk belongs to */
  readonly etcdData: string;
  readonly isOfRke2: boolean;
}

const ofKubeadm: ControlPlaneLayout = { manifests: paths.manifests, etcdData: paths.etcdData, isOfRke2: false };

/** As kubeadm has it, or rke2 where the machine is configured for that. */
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
