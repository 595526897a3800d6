import { startCapstan } from './capstan.ts';

/** An API server under test. */
export interface Target {
  readonly name: TargetName;
  /** kubeconfig with cluster-admin rights */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** `capstan` is the embedded API, `kubernetes` a real kube-apiserver. */
export type TargetName = 'capstan' | 'kubernetes';

export interface TargetChoice {
  readonly name: TargetName;
  start(): Promise<Target>;
}

/** Names the kubeconfig (cluster-admin) of a real kube-apiserver with its controller manager. */
export const realKubeconfigVariable = 'CAPSTAN_REAL_KUBECONFIG';

/** Returns the embedded API, and a real one if CAPSTAN_REAL_KUBECONFIG is set. */
export function targets(env: Readonly<Record<string, string | undefined>> = process.env): TargetChoice[] {
  const kubeconfig = env[realKubeconfigVariable];
  return [
    { name: 'capstan', start: startOurs },
    ...(kubeconfig
      ? [
          {
            name: 'kubernetes' as const,
            start: async () => ({ name: 'kubernetes' as const, kubeconfig, stop: async () => {} }),
          },
        ]
      : []),
  ];
}

async function startOurs(): Promise<Target> {
  const { kubeconfig, stop } = await startCapstan();
  return { name: 'capstan', kubeconfig, stop };
}
