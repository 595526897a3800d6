import type { Provider } from '../../api/index.ts';

export type ProviderType = NonNullable<Provider['type']>;

/** A requested provider in the form of clusterctl's flags: `openstack` or `openstack:v0.15.0`. */
export interface WantedProvider {
  readonly type: ProviderType;
  readonly name: string;
  /** absent: any version */
  readonly version?: string;
}

/** Flags of `init`, the same as in clusterctl. */
export interface ProviderFlags {
  core?: string;
  bootstrap?: string[];
  controlPlane?: string[];
  infrastructure?: string[];
}

/** Returns the inventory name of a provider: `infrastructure-openstack`. */
export function providerLabel({ type, name }: Pick<WantedProvider, 'type' | 'name'>): string {
  return type === 'CoreProvider' ? name : `${prefixes[type] ?? type}-${name}`;
}

const prefixes: Readonly<Partial<Record<ProviderType, string>>> = {
  BootstrapProvider: 'bootstrap',
  ControlPlaneProvider: 'control-plane',
  InfrastructureProvider: 'infrastructure',
};

/** The default is Cluster API with its kubeadm providers; `-` requests none. */
export function wantedProviders(flags: ProviderFlags): WantedProvider[] {
  const of = (type: ProviderType, given: readonly string[]): WantedProvider[] =>
    given
      .flatMap((text) => text.split(','))
      .map((text) => text.trim())
      .filter((text) => text !== '' && text !== '-')
      .map((text) => {
        const [name = '', version] = text.split(':');
        return { type, name, ...(version !== undefined && version !== '' && { version }) };
      });
  return [
    ...of('CoreProvider', [flags.core ?? 'cluster-api']),
    ...of('BootstrapProvider', flags.bootstrap ?? ['kubeadm']),
    ...of('ControlPlaneProvider', flags.controlPlane ?? ['kubeadm']),
    ...of('InfrastructureProvider', flags.infrastructure ?? []),
  ];
}
