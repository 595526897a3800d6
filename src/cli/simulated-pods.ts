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
  /** what containers said */
  readonly logDirectory: string;
  /** `special` is asked first what an image does */
  backend(special?: ProgramChooser): PodHostOptions['backend'];
  close(): Promise<void>;
}

export interface SimulatedPodsOptions {
  /** where everything is kept that Pods keep */
  readonly directory: string;
  readonly log: Logger;
  /** network of the Pods; default: 10.244.0.0/16 */
  readonly network?: { readonly address: string; readonly bits: 16 | 24 };
}

/** Pods whose programs are simulated: a whole Kubernetes of them. */
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
