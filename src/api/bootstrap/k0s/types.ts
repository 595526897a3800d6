import type { KubeObject } from '../../../machinery/index.ts';
import type { StatusCondition, TemplateMetadata } from '../../cluster/types.ts';
import type { EmbeddedMetadata } from '../../k0smotron/types.ts';

export interface SecretOrConfigMapKey {
  secretRef?: { name: string; key: string };
  configMapRef?: { name: string; key: string };
}

export interface K0sFile {
  path?: string;
  content?: string;
  permissions?: string;
  contentFrom?: SecretOrConfigMapKey;
}

export interface K0sIgnition {
  variant: 'fcos' | 'flatcar' | 'openshift' | 'r4e' | 'fiot';
  version: string;
  additionalConfig?: string;
}

export interface K0sProvisioner {
  type?: 'cloud-config' | 'ignition' | 'powershell' | 'powershell-xml';
  platform?: 'linux' | 'windows';
  ignition?: K0sIgnition;
  customUserDataRef?: SecretOrConfigMapKey;
}

export interface K0sWorkerConfigSpec {
  version?: string;
  k0sInstallDir?: string;
  args?: string[];
  preInstalledK0s?: boolean;
  downloadURL?: string;
  useSystemHostname?: boolean;
  files?: K0sFile[];
  preK0sCommands?: string[];
  postK0sCommands?: string[];
  provisioner?: K0sProvisioner;
  workingDir?: string;
  secretMetadata?: TemplateMetadata;
}

export interface K0sWorkerConfigStatus {
  initialization?: { dataSecretCreated?: boolean };
  dataSecretName?: string;
  conditions?: StatusCondition[];
}

export interface K0sWorkerConfig extends KubeObject {
  spec: K0sWorkerConfigSpec;
  status?: K0sWorkerConfigStatus;
}

export interface K0sWorkerConfigTemplateSpec {
  template?: { metadata?: EmbeddedMetadata; spec?: K0sWorkerConfigSpec };
}

export interface K0sWorkerConfigTemplate extends KubeObject {
  spec: K0sWorkerConfigTemplateSpec;
}
