import type { SimulatedProgram } from '../process.ts';
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

/** Programs by the name they are called with. */
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
]);

/** What a name stands for, whichever image it is called in; undefined: nobody here knows. */
export function findProgram(name: string): ProgramMaker | undefined {
  if (shellNames.has(name)) return (kubernetes) => shellProgram(kubernetes, findProgram);
  return programMakers.get(name);
}

/** What an image starts by itself, by the last part of its name. */
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
  // These start a shell, which has nothing to do unless its input is kept open.
  alpine: 'sh',
  busybox: 'sh',
  debian: 'sh',
  ubuntu: 'sh',
};

/** The program an image starts when its container names none; undefined: one nobody here knows. */
export function imageProgram(image: string): string | undefined {
  const name = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
  return entryPoints[name.slice(name.lastIndexOf('/') + 1)];
}
