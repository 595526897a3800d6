import { startCapstan } from './capstan.ts';

/** An API server the expectations are held against. */
export interface Target {
  readonly name: TargetName;
  /** cluster-admin */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** `capstan` is ours, `kubernetes` a real kube-apiserver. */
export type TargetName = 'capstan' | 'kubernetes';

export interface TargetChoice {
  readonly name: TargetName;
  start(): Promise<Target>;
}

/** Names the kubeconfig (cluster-admin) of a real kube-apiserver with its controller manager. */
export const realKubeconfigVariable = 'CAPSTAN_REAL_KUBECONFIG';

/** Ours always; a real one too when CAPSTAN_REAL_KUBECONFIG says where it is. */
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
