import { join } from 'node:path';
import { systemClock, systemRandom } from '../machinery/index.ts';
import type { PodHostOptions } from '../podhost/index.ts';
import type { Logger } from '../runtime/index.ts';
import {
  createAddressPool,
  createSimulatedBackend,
  type ProgramChooser,
  SimulatedKubernetes,
  simulatedProgram,
} from '../simkube/index.ts';
import { builtInChart, builtInChartNames } from './built-in-charts.ts';

export interface SimulatedPods {
  readonly logDirectory: string;
  /** `special` is consulted first for the program of an image */
  backend(special?: ProgramChooser): PodHostOptions['backend'];
  close(): Promise<void>;
}

export interface SimulatedPodsOptions {
  /** directory of all Pod data */
  readonly directory: string;
  readonly log: Logger;
  /** Pod network; default 10.244.0.0/16 */
  readonly network?: { readonly address: string; readonly bits: 16 | 24 };
}

/** Creates a simulated Kubernetes whose Pods run simulated programs. */
export function simulatedPods({ directory, log, network: podNetwork }: SimulatedPodsOptions): SimulatedPods {
  const kubernetes = new SimulatedKubernetes({
    clock: systemClock,
    random: systemRandom,
    directory: join(directory, 'etcd'),
    log,
    charts: ({ name, version }) => (builtInChartNames().includes(name) ? builtInChart(name, version) : undefined),
  });
  return {
    logDirectory: join(directory, 'logs'),
    backend:
      (special = () => undefined) =>
      ({ network, nodeAddress }) =>
        createSimulatedBackend({
          clock: systemClock,
          random: systemRandom,
          network,
          nodeAddress,
          directory: join(directory, 'volumes'),
          programs: (image, argv) => special(image, argv) ?? simulatedProgram(image, argv, kubernetes),
          filesRemoved: (contents) => kubernetes.filesRemoved(contents),
          ...(podNetwork && { podAddresses: createAddressPool(podNetwork.address, podNetwork.bits) }),
        }),
    close: () => kubernetes.close(),
  };
}
