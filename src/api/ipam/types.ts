import type { KubeObject } from '../../machinery/index.ts';
import type { ContractReference, DeprecatedCondition, StatusCondition } from '../cluster/types.ts';

export interface IPAddressClaimSpec {
  clusterName?: string;
  poolRef: ContractReference;
}

export interface IPAddressClaimStatus {
  conditions?: StatusCondition[];
  addressRef?: { name: string };
  deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } };
}

export interface IPAddressClaim extends KubeObject {
  spec: IPAddressClaimSpec;
  status?: IPAddressClaimStatus;
}

export interface IPAddressSpec {
  claimRef: { name: string };
  poolRef: ContractReference;
  address: string;
  prefix: number;
  gateway?: string;
}

export interface IPAddress extends KubeObject {
  spec: IPAddressSpec;
}
