import type { K0sWorkerConfig } from '../../../api/index.ts';
import type { Verdict } from '../../shared/index.ts';
import type { ConfigDependencies, ConfigScope } from '../common/config-scope.ts';

/** What the controller is given; a join token is good for a day unless it says otherwise. */
export type K0sWorkerConfigDependencies = ConfigDependencies;

/** One pass over one configuration: what was read, and the draft that will be written. */
export type K0sWorkerConfigScope = ConfigScope<K0sWorkerConfig, K0sWorkerConfigDependencies, Verdict>;
