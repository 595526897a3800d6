import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/machinery/index.ts';
import {
  type CertificateAndKey,
  createAuthority,
  createServiceAccountKeyPair,
  issueCertificate,
} from '../../src/pki/index.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { type RunningProcess, startProcess } from '../support/process.ts';
import type { Programs } from './go-build.ts';

/**
 * A real control plane on loopback: etcd, kube-apiserver, kube-controller-manager and optionally kube-scheduler,
 * without nodes.
 */
export interface RealKubernetes {
  readonly kubeconfig: string;
  readonly url: string;
  /** PEM file of the CA for clients and servers */
  readonly authorityFile: string;
  /** current pids; they change with a restart */
  readonly pids: Readonly<Record<StorageProgram, number>>;
  /** kills a program and restarts it with the same data; resolves once the API is ready */
  crash(name: StorageProgram): Promise<void>;
  /** stops the processes and removes their data */
  stop(): Promise<void>;
}

type StorageProgram = 'etcd' | 'kube-apiserver';

const host = '127.0.0.1';
/** address of the Service `kubernetes`, the first of its range */
const serviceAddress = '10.0.0.1';
const readyPatienceMs = 120_000;

export interface RealKubernetesOptions {
  address?: string;
  /** path of the scheduler; absent: Pods are not scheduled */
  scheduler?: string;
  /** name of the context in the kubeconfig */
  context?: string;
}

/**
 * Starts the programs on free ports with their own PKI and waits until the API is ready. The API listens on loopback
 * unless another address of this machine is given, which Pods need.
 */
export async function startRealKubernetes(
  programs: Programs,
  { address = host, scheduler, context = 'conformance' }: RealKubernetesOptions = {},
): Promise<RealKubernetes> {
  const directory = await mkdtemp(join(tmpdir(), 'real-kubernetes-'));
  const running: RunningProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const process of running.reverse()) await process.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const [apiPort, clientPort, peerPort] = (await freePorts(3)) as [number, number, number];
    const pki = await makePki(join(directory, 'pki'), address);
    const url = `https://${address}:${apiPort}`;
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, JSON.stringify(adminKubeconfig(url, context, pki), undefined, 2), { mode: 0o600 });
    const begin = (name: StorageProgram): RunningProcess => {
      const process = startProcess(
        programs[name],
        name === 'etcd'
          ? etcdArguments(directory, clientPort, peerPort)
          : apiServerArguments(pki, { address, port: apiPort, etcdPort: clientPort }),
      );
      running.push(process);
      return process;
    };
    const current = { etcd: begin('etcd'), 'kube-apiserver': begin('kube-apiserver') };
    await isReady(current['kube-apiserver'], url, pki);
    running.push(startProcess(programs['kube-controller-manager'], controllerArguments(pki, kubeconfig)));
    if (scheduler !== undefined) running.push(startProcess(scheduler, schedulerArguments(kubeconfig)));
    return {
      kubeconfig,
      url,
      authorityFile: pki.path('ca.crt'),
      get pids() {
        return { etcd: current.etcd.pid, 'kube-apiserver': current['kube-apiserver'].pid };
      },
      async crash(name) {
        await current[name].stop('SIGKILL');
        current[name] = begin(name);
        await isReady(current['kube-apiserver'], url, pki);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Pki {
  authority: CertificateAndKey;
  admin: CertificateAndKey;
  /** returns the path of a file by name */
  path(
    name: 'ca.crt' | 'ca.key' | 'server.crt' | 'server.key' | 'admin.crt' | 'admin.key' | 'sa.key' | 'sa.pub',
  ): string;
}

async function makePki(directory: string, address: string): Promise<Pki> {
  await mkdir(directory, { mode: 0o700 });
  const clock = systemClock;
  const authority = await createAuthority({ commonName: 'conformance', clock });
  const [server, admin, accounts] = await Promise.all([
    issueCertificate({
      authority,
      commonName: 'kube-apiserver',
      hosts: [...new Set([address, host, serviceAddress]), 'localhost', 'kubernetes.default.svc'],
      usages: ['server', 'client'],
      clock,
    }),
    issueCertificate({
      authority,
      commonName: 'conformance-admin',
      organizations: ['system:masters'],
      usages: ['client'],
      clock,
    }),
    createServiceAccountKeyPair('RSA-2048'),
  ]);
  const files = {
    'ca.crt': authority.certificate,
    'ca.key': authority.privateKey,
    'server.crt': server.certificate,
    'server.key': server.privateKey,
    'admin.crt': admin.certificate,
    'admin.key': admin.privateKey,
    'sa.key': accounts.privateKey,
    'sa.pub': accounts.publicKey,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content, { mode: 0o600 });
  return { authority, admin, path: (name) => join(directory, name) };
}

function adminKubeconfig(server: string, name: string, { authority, admin }: Pki): object {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(authority.certificate) } }],
    users: [
      {
        name,
        user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.privateKey) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
}

function flags(values: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}

function etcdArguments(directory: string, clientPort: number, peerPort: number): string[] {
  const client = `http://${host}:${clientPort}`;
  const peer = `http://${host}:${peerPort}`;
  return flags({
    'data-dir': join(directory, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  });
}

function apiServerArguments(
  pki: Pki,
  { address, port, etcdPort }: { address: string; port: number; etcdPort: number },
): string[] {
  return flags({
    'etcd-servers': `http://${host}:${etcdPort}`,
    'bind-address': address,
    'secure-port': port,
    // The endpoint of the Service `kubernetes` must not be loopback. Without nodes nothing connects to it.
    'advertise-address': address === host ? '10.255.255.1' : address,
    'service-cluster-ip-range': '10.0.0.0/24',
    'tls-cert-file': pki.path('server.crt'),
    'tls-private-key-file': pki.path('server.key'),
    'client-ca-file': pki.path('ca.crt'),
    'authorization-mode': 'Node,RBAC',
    // Used to read logs and ports of Pods from a kubelet, if there is one.
    'kubelet-client-certificate': pki.path('admin.crt'),
    'kubelet-client-key': pki.path('admin.key'),
    'kubelet-preferred-address-types': 'InternalIP',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': pki.path('sa.pub'),
    'service-account-signing-key-file': pki.path('sa.key'),
  });
}

function controllerArguments(pki: Pki, kubeconfig: string): string[] {
  return flags({
    kubeconfig,
    'bind-address': host,
    'secure-port': 0,
    'leader-elect': 'false',
    // There are no nodes that need addresses.
    controllers: '*,-nodeipam',
    'root-ca-file': pki.path('ca.crt'),
    'service-account-private-key-file': pki.path('sa.key'),
    'cluster-signing-cert-file': pki.path('ca.crt'),
    'cluster-signing-key-file': pki.path('ca.key'),
  });
}

function schedulerArguments(kubeconfig: string): string[] {
  return flags({ kubeconfig, 'bind-address': host, 'secure-port': 0, 'leader-elect': 'false' });
}

async function isReady(api: RunningProcess, url: string, pki: Pki): Promise<void> {
  const died = api.ended.then(({ stderr }) => {
    throw new Error(`kube-apiserver ended:\n${stderr.split('\n').slice(-5).join('\n')}`);
  });
  await Promise.race([died, eventually(() => askReadiness(url, pki), readyPatienceMs)]);
}

function askReadiness(url: string, { authority, admin }: Pki): Promise<void> {
  return new Promise((resolve, reject) => {
    const { certificate: cert, privateKey: key } = admin;
    const asked = request(`${url}/readyz`, { ca: authority.certificate, cert, key }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) resolve();
      else reject(new Error(`/readyz answers ${answer.statusCode}`));
    });
    asked.on('error', reject);
    asked.end();
  });
}
