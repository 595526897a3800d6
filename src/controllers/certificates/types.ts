import type { StatusCondition } from '../../api/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';

export const certManagerGroup = 'cert-manager.io';

/** The supported fields of cert-manager's kinds. */
export interface Certificate extends KubeObject {
  spec?: {
    secretName?: string;
    issuerRef?: { name?: string; kind?: string; group?: string };
    commonName?: string;
    dnsNames?: string[];
    ipAddresses?: string[];
    isCA?: boolean;
    duration?: string;
    privateKey?: { algorithm?: string; size?: number };
    subject?: { organizations?: string[] };
  };
  status?: { conditions?: StatusCondition[]; notAfter?: string; notBefore?: string; renewalTime?: string };
}

export interface Issuer extends KubeObject {
  spec?: { selfSigned?: object; ca?: { secretName?: string } };
  status?: { conditions?: StatusCondition[] };
}

const resource = <T extends KubeObject>(kind: string, { namespaced }: { namespaced: boolean }): Resource<T> => ({
  group: certManagerGroup,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
});

export const Certificates: Resource<Certificate> = resource('Certificate', { namespaced: true });
export const Issuers: Resource<Issuer> = resource('Issuer', { namespaced: true });
export const ClusterIssuers: Resource<Issuer> = resource('ClusterIssuer', { namespaced: false });
