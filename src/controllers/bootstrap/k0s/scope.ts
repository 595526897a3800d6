import type { K0sWorkerConfig } from '../../../api/index.ts';
import type { Verdict } from '../../shared/index.ts';
import type { ConfigDependencies, ConfigScope } from '../common/config-scope.ts';

/** Join tokens live for one day by default. */
export type K0sWorkerConfigDependencies = ConfigDependencies;

export type K0sWorkerConfigScope = ConfigScope<K0sWorkerConfig, K0sWorkerConfigDependencies, Verdict>;
