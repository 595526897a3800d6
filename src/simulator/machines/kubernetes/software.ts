import { dirname, join } from 'node:path';
import { ClusterRegistry, SimulatedKubernetes } from '../../../simkube/index.ts';
import type { RunningMachine, Software } from '../types.ts';
import { downloadKubernetes, hasProgram, packageContent } from './installed.ts';
import { unitFile } from './k0s/arguments.ts';
import { downloadK0s } from './k0s/binary.ts';
import { k0sMachineProgram } from './k0s/program.ts';
import { K0sWorker } from './k0s/worker.ts';
import { paths } from './kubeadm/names.ts';
import { kubeadmProgram } from './kubeadm/program.ts';
import { kubectlProgram } from './kubectl.ts';
import { Kubelet } from './kubelet/kubelet.ts';
import type { CniRule, KubernetesSoftwareOptions } from './options.ts';
import { Buckets } from './rke2/buckets.ts';
import { downloadRke2 } from './rke2/installer.ts';
import { rke2Program } from './rke2/program.ts';

/** Default durations of a node's components, about two seconds each. */
const stepTimings = {
  'node.etcd': [1_600, 2_400],
  'node.apiserver': [1_600, 2_400],
  'node.join': [1_600, 2_400],
  'node.pod': [200, 800],
  'node.podstop': [100, 500],
} as const;

const cniProperty = 'capstan_cni';

/**
 * Builds the software of a Kubernetes machine image: kubeadm, kubelet, container images, and k0s if it is downloaded.
 */
export function createKubernetesSoftware(options: KubernetesSoftwareOptions): Software {
  options.timings.declare(stepTimings);
  const kubelets = new WeakMap<RunningMachine, Kubelet>();
  const registry = new ClusterRegistry(options);
  const kubernetes = new SimulatedKubernetes(options, registry);
  const { directory } = options;
  const buckets = new Buckets(directory && join(dirname(directory), 'buckets'));

  const kubeletOf = (machine: RunningMachine): Kubelet => {
    let kubelet = kubelets.get(machine);
    if (!kubelet) {
      kubelet = new Kubelet({ machine, registry, kubernetes, cni: cniRule(options, machine), log: options.log });
      kubelets.set(machine, kubelet);
    }
    return kubelet;
  };

  const workers = new WeakMap<RunningMachine, K0sWorker>();
  const workerOf = (machine: RunningMachine): K0sWorker => {
    let worker = workers.get(machine);
    if (!worker) {
      worker = new K0sWorker(machine, kubeletOf(machine));
      workers.set(machine, worker);
    }
    return worker;
  };

  return {
    programs: {
      kubeadm: kubeadmProgram({ registry, kubeletOf }),
      kubectl: kubectlProgram,
      k0s: k0sMachineProgram(workerOf),
      rke2: rke2Program({ registry, buckets, kubeletOf }),
    },
    services: [
      {
        name: 'kubelet.service',
        enabled: (disk) => disk.read(paths.kubeletConfig) !== undefined,
        start(machine) {
          const kubelet = kubeletOf(machine);
          kubelet.startControlPlane();
          kubelet.start();
        },
      },
      {
        name: 'k0sworker.service',
        enabled: (disk) => disk.read(unitFile) !== undefined,
        start: (machine) => workerOf(machine).start(),
      },
    ],
    has: hasProgram,
    packaged: packageContent,
    download: (url) => downloadK0s(url) ?? downloadRke2(url) ?? downloadKubernetes(url),
    forget(serverId) {
      registry.release(serverId);
    },
    close: () => registry.close(),
  };
}

function cniRule(options: KubernetesSoftwareOptions, machine: RunningMachine): CniRule {
  const desired = machine.server.image?.properties[cniProperty];
  return desired === 'builtin' || desired === 'required' ? desired : (options.cni ?? 'builtin');
}
