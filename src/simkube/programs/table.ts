import type { SimulatedProgram } from '../process.ts';
import {
  ciliumAgentProgram,
  ciliumConfigProgram,
  ciliumEnvoyProgram,
  ciliumInstallProgram,
  ciliumUninstallProgram,
} from './addons/cilium/agent.ts';
import { ciliumOperatorProgram } from './addons/cilium/operator.ts';
import { cloudControllerProgram } from './addons/cloud-controller/program.ts';
import { attacherControllers } from './addons/csi/attacher.ts';
import { cinderPluginProgram, livenessProbeProgram, nodeRegistrarProgram } from './addons/csi/plugin.ts';
import { provisionerControllers } from './addons/csi/provisioner.ts';
import { resizerControllers } from './addons/csi/resizer.ts';
import { sideCarProgram, waitingSideCar } from './addons/csi/side-car.ts';
import { metricsServerProgram } from './addons/metrics-server/program.ts';
import { apiServerProgram } from './apiserver/apiserver.ts';
import { controllerManagerProgram } from './components/controller-manager.ts';
import { konnectivityServerProgram } from './components/konnectivity.ts';
import { schedulerProgram } from './components/scheduler.ts';
import { databaseProgram } from './databases/database.ts';
import { kineProgram } from './databases/kine.ts';
import { etcdProgram } from './etcd/etcd.ts';
import { etcdctlProgram } from './etcd/etcdctl.ts';
import { etcdutlProgram } from './etcd/etcdutl.ts';
import { curlProgram, wgetProgram } from './http-clients.ts';
import { k0sProgram } from './k0s/k0s.ts';
import { kubectlProgram } from './kubectl.ts';
import type { SimulatedKubernetes } from './kubernetes.ts';
import { shellNames, shellProgram } from './shell.ts';

export type ProgramMaker = (kubernetes: SimulatedKubernetes) => SimulatedProgram;

const nothingToDo: ProgramMaker = () => async () => 0;

/** Programs by command name. */
const programMakers: ReadonlyMap<string, ProgramMaker> = new Map<string, ProgramMaker>([
  ['etcd', etcdProgram],
  ['etcdctl', etcdctlProgram],
  ['etcdutl', etcdutlProgram],
  ['kube-apiserver', apiServerProgram],
  ['kube-controller-manager', controllerManagerProgram],
  ['kube-scheduler', schedulerProgram],
  ['proxy-server', konnectivityServerProgram],
  ['kine', kineProgram],
  ['k0s', k0sProgram],
  ['wget', wgetProgram],
  ['curl', curlProgram],
  ['kubectl', kubectlProgram],
  ['postgres', databaseProgram('postgres')],
  ['mysqld', databaseProgram('mysqld')],
  ['openstack-cloud-controller-manager', cloudControllerProgram],
  ['cinder-csi-plugin', cinderPluginProgram],
  ['csi-provisioner', sideCarProgram('external-provisioner-leader', provisionerControllers)],
  ['csi-attacher', sideCarProgram('external-attacher-leader', attacherControllers)],
  ['csi-resizer', sideCarProgram('external-resizer', resizerControllers)],
  ['csi-snapshotter', waitingSideCar],
  ['csi-node-driver-registrar', nodeRegistrarProgram],
  ['livenessprobe', livenessProbeProgram],
  ['metrics-server', metricsServerProgram],
  ['cilium-dbg', ciliumConfigProgram],
  ['cilium-agent', ciliumAgentProgram],
  ['cilium-operator-generic', ciliumOperatorProgram],
  ['cilium-envoy-starter', ciliumEnvoyProgram],
  ['install-plugin.sh', ciliumInstallProgram],
  ['cni-uninstall.sh', ciliumUninstallProgram],
  // Containers have no namespaces and no kernel here, so these commands have nothing to do.
  ['init-container.sh', nothingToDo],
  ['nsenter', nothingToDo],
  ['mount', nothingToDo],
]);

/** Finds the program for a name, independent of the image; undefined if unknown. */
export function findProgram(name: string): ProgramMaker | undefined {
  if (shellNames.has(name)) return (kubernetes) => shellProgram(kubernetes, findProgram);
  return programMakers.get(name);
}

/** Default program of images, by the last part of the image name. */
const entryPoints: Readonly<Record<string, string>> = {
  etcd: 'etcd',
  'kube-apiserver': 'kube-apiserver',
  'kube-controller-manager': 'kube-controller-manager',
  'kube-scheduler': 'kube-scheduler',
  'proxy-server': 'proxy-server',
  kine: 'kine',
  k0s: 'k0s',
  postgres: 'postgres',
  postgresql: 'postgres',
  mysql: 'mysqld',
  mariadb: 'mysqld',
  'openstack-cloud-controller-manager': 'openstack-cloud-controller-manager',
  'cinder-csi-plugin': 'cinder-csi-plugin',
  'csi-provisioner': 'csi-provisioner',
  'csi-attacher': 'csi-attacher',
  'csi-resizer': 'csi-resizer',
  'csi-snapshotter': 'csi-snapshotter',
  'csi-node-driver-registrar': 'csi-node-driver-registrar',
  livenessprobe: 'livenessprobe',
  'metrics-server': 'metrics-server',
  // These start a shell, which exits at once unless its input stays open.
  alpine: 'sh',
  busybox: 'sh',
  debian: 'sh',
  ubuntu: 'sh',
};

/** Returns the default program of an image; undefined if unknown. */
export function imageProgram(image: string): string | undefined {
  const name = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  return entryPoints[name.slice(name.lastIndexOf('/') + 1)];
}
