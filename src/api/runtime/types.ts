import type { KubeObject } from '../../machinery/index.ts';
import type { DeprecatedCondition, LabelSelector, StatusCondition } from '../cluster/types.ts';

export interface ExtensionService {
  namespace: string;
  name: string;
  path?: string;
  port?: number;
}

/** exactly one of url and service */
export interface ExtensionClientConfig {
  url?: string;
  service?: ExtensionService;
  /** PEM in base64 */
  caBundle?: string;
}

export interface ExtensionConfigSpec {
  clientConfig: ExtensionClientConfig;
  namespaceSelector?: LabelSelector;
  settings?: Record<string, string>;
}

export interface ExtensionHandler {
  /** `handler.extension` */
  name: string;
  requestHook: { apiVersion: string; hook: string };
  timeoutSeconds?: number;
  failurePolicy?: 'Ignore' | 'Fail';
}

export interface ExtensionConfigStatus {
  conditions?: StatusCondition[];
  handlers?: ExtensionHandler[];
  deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } };
}

export interface ExtensionConfig extends KubeObject {
  spec: ExtensionConfigSpec;
  status?: ExtensionConfigStatus;
}
