import type { BootstrapFormat } from '../../../api/index.ts';
import type { Resource } from '../../../machinery/index.ts';
import { type CertifiedConfigScope, dataSecretAvailable } from './config-status.ts';
import { writeDataSecret } from './data-secret.ts';
import { userDataSizeProblem } from './user-data-size.ts';

interface Rendered {
  format: BootstrapFormat;
  text: string;
  /** settings that were left out, with the reason */
  warnings: readonly string[];
}

/** Stores the rendered user data, and emits events for dropped settings and for user data that is too large. */
export async function storeUserData(
  scope: CertifiedConfigScope,
  resource: Resource,
  { text, format, warnings }: Rendered,
): Promise<void> {
  const { context, cluster, config } = scope;
  const name = await writeDataSecret({
    client: context.client,
    config,
    resource,
    clusterName: cluster.metadata.name ?? '',
    userData: text,
    format,
    signal: context.signal,
  });
  dataSecretAvailable(scope, name);
  const size = userDataSizeProblem(text);
  for (const warning of size === undefined ? warnings : [...warnings, size]) {
    context.events.event(config, 'Warning', 'UserData', warning);
  }
}
